#!/usr/bin/env bash
# Makes the Debian package for the architecture of this machine (docs/install.md, "Debian package"):
#   deploy/deb/build.sh [EXECUTABLE [DIRECTORY]]
# It packs build/nearsky and writes build/nearsky_VERSION_ARCHITECTURE.deb unless others are named. DEBFULLNAME and DEBEMAIL name the maintainer.
set -euo pipefail
directory=$(realpath "${2:-build}")
executable=$(realpath "${1:-build/nearsky}")
cd "$(dirname "$0")/../.."
PATH=$PWD/node_modules/.bin:$PATH
version=$("$executable" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
tree=$(mktemp -d "$directory/deb.XXXXXX")
trap 'rm -rf "$tree"' EXIT
maintainer="${DEBFULLNAME:-nearsky} <${DEBEMAIL:-root@localhost}>"
share=$tree/usr/share documents=$tree/usr/share/doc/nearsky

# The directories and files of a package can be read by everybody.
umask 022
chmod 755 "$tree"
install -D -m 755 "$executable" "$tree/usr/bin/nearsky"
install -D -m 644 docs/nearsky.example.json "$tree/etc/nearsky/nearsky.json"
mkdir -p "$tree/usr/lib/systemd/system" "$documents" "$share/man/man1" "$share/bash-completion/completions" \
  "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
sed 's#/usr/local/bin/#/usr/bin/#' deploy/nearsky.service >"$tree/usr/lib/systemd/system/nearsky.service"
"$executable" completion bash >"$share/bash-completion/completions/nearsky"
"$executable" completion zsh >"$share/zsh/vendor-completions/_nearsky"
"$executable" completion fish >"$share/fish/vendor_completions.d/nearsky.fish"
node docs/man.ts "$share/man/man1" >/dev/null
gzip -9n "$share"/man/man1/*
gzip -9nc CHANGELOG.md >"$documents/NEWS.gz"
gzip -9nc >"$documents/changelog.gz" <<CHANGELOG
nearsky ($version) unstable; urgency=medium

  * NEWS.gz lists the changes of each version.

 -- $maintainer  $(date -R)
CHANGELOG
{
  cat NOTICE
  printf '\nLICENSE is /usr/share/common-licenses/Apache-2.0. The executable contains Node.js (MIT) and these packages:\n\n'
  node .ci/packages.ts --list | grep -v 'tool$'
} >"$documents/copyright"

mkdir "$tree/DEBIAN"
install -m 755 deploy/deb/{postinst,prerm,postrm} "$tree/DEBIAN"
echo /etc/nearsky/nearsky.json >"$tree/DEBIAN/conffiles"
(cd "$tree" && find etc usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: nearsky
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: science
Priority: optional
Depends: adduser, libc6 (>= 2.34), libstdc++6
Installed-Size: $(du -sk --apparent-size "$tree" | cut -f1)
Description: catalog sources at the positions of Rubin alert objects
 nearsky stores the alerts of brokers, crossmatches their objects with catalogs
 and answers queries by object id and by position.
CONTROL
dpkg-deb --root-owner-group --build "$tree" "$directory/nearsky_${version}_$architecture.deb"
