#!/bin/bash
# In the guest, by guest-piece.service: the piece that the kernel's command line names. What it prints goes to the second serial port, with
# its status at the end; the journal of what failed, too.
exec >/dev/ttyS1 2>&1
stty -F /dev/ttyS1 -opost
name=$(sed -n 's/.*guest\.piece=\([a-z_]*\).*/\1/p' /proc/cmdline)
# As packages would have installed it.
ldconfig
ln -s /usr/local/lib/x86_64-linux-gnu/gstreamer-1.0/*.so /usr/lib/x86_64-linux-gnu/gstreamer-1.0/
systemctl daemon-reload
status=0
HOME=/root LANG=C.UTF-8 bash -euo pipefail "/usr/local/guest/$name.sh" || status=$?
echo "guest: $name ended with $status"
