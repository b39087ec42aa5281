# A file for each case of the OASIS grammar tests, in the folder of the fuzz target that reads its group.
BEGIN {
    FS = "\t"
    target["literal"] = "literal"
    target["expression"] = "filter_parse"
    target["queryoption"] = "query_parse"
    target["path"] = "path_parse"
    target["header"] = "prefer"
}
$7 in target && $4 != "" {
    folder = to "/" target[$7]
    system("mkdir -p " folder)
    file = folder "/" NR
    printf "%s", $4 > file
    close(file)
}
