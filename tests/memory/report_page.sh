#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The HTML report in a real browser: at 320 pixels nothing stands out at the side, every plot and table is drawn, no script error;
# printed it is a few pages with its text.
#
#   report_page.sh LAMINA PROGRAM      records PROGRAM; skips (77) without Chromium
set -u
lamina=$1
program=$2
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "skipped: there is no Chromium (apt-get install chromium)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$lamina" record -o profile -- "$program" stencil 0.5 2> record.log || { cat record.log; exit 1; }
"$lamina" report --html page.html profile || exit 1
command -v gnuplot > /dev/null || { echo "skipped: there is no gnuplot, so the page has no plots to look at"; exit 77; }

browse() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$work/user" \
    "$@" 2> browser.log
}
cat page.html > probe.html
cat >> probe.html << 'SCRIPT'
<script>
addEventListener('load', () => {
  const view = document.documentElement, found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const box = element.getBoundingClientRect();
    if (box.right > view.clientWidth + 1 && !element.closest('.wide')) found.push(element.tagName);
  }
  const answer = document.createElement('p');
  const drawn = [...document.querySelectorAll('svg')].filter(e => e.getBoundingClientRect().height > 50).length;
  answer.textContent = `PROBE width=${view.clientWidth} scroll=${view.scrollWidth} outside=${found.join(',')} plots=${drawn} ` +
    `tables=${document.querySelectorAll('table').length} title=${document.title}`;
  document.body.append(answer);
});
</script>
SCRIPT
failures=0
for width in 320 800; do
  # A window of the browser may not be narrow enough: the page goes into a frame that is.
  sed 's/&/\&amp;/g; s/"/\&quot;/g' probe.html > escaped
  { printf '<!DOCTYPE html><body style="margin:0"><iframe width="%d" height="3000" style="border:0" srcdoc="' $width
    cat escaped
    printf '"></iframe><script>addEventListener("load",()=>{const p=[...frames[0].document.querySelectorAll("p")].pop();document.body.append(p.textContent)})</script>'
  } > frame.html
  answer=$(browse --window-size=1000,3200 --virtual-time-budget=5000 --dump-dom "file://$work/frame.html" | grep -o 'PROBE [^<]*' | tail -n 1)
  echo "$width: $answer"
  case $answer in
    "PROBE width=$width scroll=$width outside= plots="[1-9]*" tables="[1-9]*) ;;
    *) echo "at $width pixels the page is not as it should be"; failures=1 ;;
  esac
done
browse --no-pdf-header-footer --print-to-pdf="$work/page.pdf" "file://$work/page.html"
pages=$(grep -acE '/Type */Page([^s]|$)' page.pdf)
echo "printed: $pages pages, $(stat -c %s page.pdf 2> /dev/null) bytes"
[ "$pages" -ge 1 ] && [ "$pages" -le 12 ] || failures=1
if command -v pdftotext > /dev/null; then
  pdftotext page.pdf - | grep -q 'stencil' || { echo "the printed page lacks its text"; failures=1; }
fi
exit $failures
