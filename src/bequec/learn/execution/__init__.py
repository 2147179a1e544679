"""execution: where kernels run; kernels do not know."""
