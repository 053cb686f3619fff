"""The benchmark beside the scanner: attack × defense × model, on tokens and money as the provider reports them."""
