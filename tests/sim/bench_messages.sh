#!/usr/bin/env bash
# An undisturbed election costs what the papers say.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"

expect 0 "$COUP" bench messages -a raft,raft:prevote=off,paxos,ring,bully -n 5,50
says '^raft +5 +16 +16 '
says '^raft +50 +196 +196 '
says '^raft:prevote=off +5 +8 '
says '^paxos +50 +98 +98 '
says '^bully +50 +(1[0-9]{3}|2[0-4][0-9]{2}) +2450 '
expect 0 "$COUP" bench messages -a ring -n 2000
says '^ring +2000 +[4-9][0-9]{3} +8000 '
refuse 64 "--nodes: 1 must be between 2 and 10000" "$COUP" bench messages -n 3,1
refuse 64 "--nodes: '' is not" "$COUP" bench messages -n 3,
refuse 64 "unknown algorithm 'raff'" "$COUP" bench messages -a raft,raff
finish
