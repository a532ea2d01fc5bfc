#!/usr/bin/env bash
# The page in a browser: it opens, zooms, tells what is under the pointer, jumps to a violation, and
# complains of nothing. Without Chromium only the file is looked at, and the test counts as skipped.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/../live/helpers/shell.bash"
cd "$work" || exit 1

expect 1 "$COUP" sim -a raft:prevote=off,bug=vote-twice --seeds 1..50 -q -o bad
bad=$(echo bad/*.coup)
expect 1 "$COUP" report "$bad"
says "^${bad%.coup}.html$"
refuse 64 'html exists' "$COUP" report "$bad"
expect 1 "$COUP" report "$bad" --force
expect 1 "$COUP" report "$bad" -o page.html
expect 3 "$COUP" report "$bad" -o /dev/full --force
[ -c /dev/full ] || complain "/dev/full is gone"
before=$(stat -c %i page.html)
(ulimit -f 8; trap '' XFSZ; "$COUP" report "$bad" -o page.html --force >/dev/null 2>&1) && complain "a page that had no room"
[ "$(stat -c %i page.html)" = "$before" ] || complain "the page that was there is gone"
[ "$(ls | grep -c new)" = 0 ] || complain "half a page is left"
refuse 64 'none.coup: No such file' "$COUP" report none.coup
refuse 64 '/nowhere/page.html' "$COUP" report "$bad" -o /nowhere/page.html
grep -qE '(src|href)=|https?://[^w]' <(sed 's/<script type="application\/json".*//' page.html | head -12) &&
    complain "the page asks somebody for something"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    [ "$failures" = 0 ] || finish
    echo "no Chromium here: the page was not opened (install chromium)"
    exit 77
}

# What a person would do, as a script at the end of the page; it says what it saw.
cat >acts.html <<'JS'
<script>
const say = (words) => document.body.append(Object.assign(document.createElement("p"), { className: "said", textContent: words }));
window.addEventListener("error", (event) => say(`error ${event.message}`));
const move = (x, y) => coup.timeline.canvas.dispatchEvent(new MouseEvent("mousemove", { clientX: x, clientY: y, bubbles: true }));
const act = () => {
    if (!coup.timeline.width) return setTimeout(act, 50); // nothing is laid out yet
    const [from, to] = coup.timeline.view(), whole = to - from;
    say(`whole ${Math.abs(whole - coup.data.run.end_us) < 2}`);
    document.querySelector('button[data-check="vote-once"]').click();
    const [start, end] = coup.timeline.view();
    const times = coup.data.judged.checks.find((check) => check.name === "vote-once").witness
        .map((index) => coup.data.events.find((event) => event[0] === index)[1]);
    say(`jumped ${end - start < whole / 2 && times.every((time) => start <= time && time <= end)}`);
    const box = coup.timeline.canvas.getBoundingClientRect();
    move(box.left + box.width / 2, box.top + coup.timeline.laneTop(0) + 12);
    say(`hovered ${/^n1 at /.test(document.querySelector(".tip").textContent)}`);
    coup.timeline.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
    const [left, right] = coup.timeline.view();
    say(`zoomed ${right - left < end - start}`);
    coup.timeline.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true }));
    say(`back ${Math.abs(coup.timeline.view()[1] - to) < 2}`);
    const image = coup.timeline.canvas.getContext("2d").getImageData(0, 0, coup.timeline.canvas.width, coup.timeline.canvas.height);
    say(`drawn ${new Set(new Uint32Array(image.data.buffer)).size > 20}`);
    say("done true");
};
setTimeout(act, 200);
</script>
JS
sed -e '/<\/body>/{' -e 'r acts.html' -e '}' page.html >acted.html
LIMIT=60 expect 0 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size=1400,1500 \
    --virtual-time-budget=3000 --dump-dom --enable-logging=stderr "file://$work/acted.html"
for said in whole jumped hovered zoomed back drawn 'done'; do
    grep -q "<p class=\"said\">$said true</p>" "$work/out" ||
        complain "not $said" "$(grep -o '<p class="said">[^<]*' "$work/out")" "$(grep CONSOLE "$work/err")"
done
grep -q CONSOLE "$work/err" && complain "the console says something" "$(grep CONSOLE "$work/err")"
finish
