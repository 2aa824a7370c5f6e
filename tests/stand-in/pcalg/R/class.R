# pcalg's classes: the names and types of their slots, which R/class.R of pcgpu lists, too.

setClass(
  "gAlgo",
  representation(
    call = "call",
    n = "integer",
    max.ord = "integer",
    n.edgetests = "numeric",
    sepset = "list",
    pMax = "matrix",
    "VIRTUAL"
  )
)

setClass("pcAlgo", representation(graph = "graph", zMin = "matrix"), contains = "gAlgo")

setClass(
  "fciAlgo",
  representation(amat = "matrix", allPdsep = "list", n.edgetestsPDSEP = "numeric", max.ordPDSEP = "integer"),
  contains = "gAlgo"
)

setOldClass("amat")
