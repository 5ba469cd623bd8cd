raise RuntimeError("no such device\nand more lines")
