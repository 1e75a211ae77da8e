module vitascope/test/cluster/images/pause

go 1.24.0
