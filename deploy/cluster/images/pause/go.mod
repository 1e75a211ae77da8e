module vitascope/deploy/cluster/images/pause

go 1.24.0
