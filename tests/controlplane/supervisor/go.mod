module whipstaff.dev/controlplane/supervisor

go 1.26.0
