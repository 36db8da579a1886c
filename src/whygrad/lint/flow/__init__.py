"""Values followed through functions, classes, tapes and loops of one file; what happens to them is noted as facts."""
