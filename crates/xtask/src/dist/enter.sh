# Makes a folder the root of everything that runs below, as a container engine does, and goes on with what follows in there.
# In mount and process namespaces of our own: enter.sh ROOT COMMAND...
#
# VOLUMES: lines of "FROM TO". READ_ONLY=1: nothing else can be written. MASKED=1: parts of /proc are covered, as engines do.
# LOOPBACK=1: in a network of its own. SYSTEMD=1: with what the first process of a machine needs.
set -e
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t tmpfs -o nosuid,mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
    : > "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs "$root/dev/shm"
if [ -n "$LOOPBACK" ]; then
    ip link set lo up
fi
if [ -n "$MASKED" ]; then
    for name in kcore keys timer_list; do
        if [ -e "$root/proc/$name" ]; then
            mount --bind /dev/null "$root/proc/$name"
        fi
    done
    mount -o bind,ro "$root/proc/sys" "$root/proc/sys"
fi
if [ -n "$SYSTEMD" ]; then
    mkdir "$root/dev/pts"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs "$root/run"
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    else
        mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs "$root/sys/fs/cgroup"
        mkdir "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
        mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
        mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
    fi
fi
if [ -n "$READ_ONLY" ]; then
    mount -o remount,bind,ro "$root"
    mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs "$root/tmp"
fi
echo "$VOLUMES" | while read -r from to; do
    if [ -n "$from" ]; then
        mount --bind "$from" "$root$to"
    fi
done
cd "$root"
pivot_root . mnt
umount -l /mnt
exec "$@"
