#!/usr/bin/env bash
# Runs sbt. The launcher comes from the Maven repository that the machine is set up for, through the Apache Ivy that
# the pyspark package carries (or Maven, where it is installed), is checked against its sum, and kept in the user's cache.
# Arguments of the form -Dname=value are properties of the JVM, all others are commands of sbt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=1.12.14
sha256=1750c8fb61c2d2f82da40b2cd9014f4d8a1bd49a361402ea5b1cec061ed66578
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/spark-kinesis"
launcher="$cache/sbt-launch-$version.jar"

sum_is_right() { [ -f "$1" ] && [ "$(python3 -c 'import hashlib,sys; print(hashlib.sha256(open(sys.argv[1],"rb").read()).hexdigest())' "$1")" = "$sha256" ]; }

if ! sum_is_right "$launcher"; then
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  python="${VIRTUAL_ENV:-.venv}/bin/python"
  if [ -x "$python" ] && jars=$("$python" -c 'import os, pyspark; print(os.path.join(os.path.dirname(pyspark.__file__), "jars"))' 2>/dev/null); then
    "$java" -cp "$(ls "$jars"/ivy-*.jar):$(ls "$jars"/commons-cli-*.jar)" org.apache.ivy.Main -warn -cache "$work/ivy" \
      -dependency org.scala-sbt sbt-launch "$version" -confs default -retrieve "$work/[artifact]-[revision].[ext]" \
      >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
  elif command -v mvn >/dev/null; then
    mvn -q -B dependency:copy -Dartifact="org.scala-sbt:sbt-launch:$version" -DoutputDirectory="$work"
  else
    echo "sbt: to fetch its launcher this needs the project's virtual environment (run ./dev setup) or Maven" >&2
    exit 1
  fi
  sum_is_right "$work/sbt-launch-$version.jar" || { echo "sbt: the launcher $version has another checksum than $sha256" >&2; exit 1; }
  mv "$work/sbt-launch-$version.jar" "$launcher"
  rm -rf "$work"
fi

properties=(-Dsbt.supershell=false)
[ -t 1 ] || properties+=(-Dsbt.color=false)
commands=()
for argument in "$@"; do
  case "$argument" in
    -D*) properties+=("$argument") ;;
    *) commands+=("$argument") ;;
  esac
done
exec "$java" -Xms512m -Xmx2g -Xss8m ${SBT_JAVA_OPTS:-} "${properties[@]}" -jar "$launcher" ${commands[@]+"${commands[@]}"} </dev/null
