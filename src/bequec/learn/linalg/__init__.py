"""linalg: decompositions and small symmetric systems; arrays in, arrays out."""
