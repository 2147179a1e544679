"""mask: whether what is asked is enough, which blocks mend it, which are cheapest, how groups are tied."""
