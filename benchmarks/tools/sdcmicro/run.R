# Single values suppressed by sdcMicro until every combination occurs k times.
# Missing values are stars: sdcMicro's frequencies take a missing value as any value.
library(sdcMicro)
library(jsonlite)

given <- commandArgs(trailingOnly = TRUE)
task <- fromJSON(given[2])
rows <- read.csv(given[1], colClasses = "character", check.names = FALSE, na.strings = character())
object <- createSdcObj(as.data.frame(lapply(rows, factor), check.names = FALSE),
                       keyVars = task$quasi_identifiers)
object <- localSuppression(object, k = task$promise$k)
released <- rows
released[task$quasi_identifiers] <- extractManipData(object)[task$quasi_identifiers]
write.csv(released, given[3], row.names = FALSE, na = "\"*\"")
