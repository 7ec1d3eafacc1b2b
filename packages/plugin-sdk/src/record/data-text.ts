// Whether a text is data that names nothing.

/** A text is judged by its lines of at least this many characters. */
const LONG = 40;
const ENCODED = /^[A-Za-z0-9+/=_-]{40,}$/;
const DUMP = /^[0-9a-f]{6,16}:?\s+(?:[0-9a-f]{2,4}\s+){6}/i;
const LOCKED = /\bintegrity[": ]|\bresolved[": ]+https?:|^checksum = |\bresolution: \{/;
/** A line of code this long was written by a tool. JSON in one line is a result like any other. */
const MINIFIED_LINE = 500;
const CODE_MARKS = /[;(){}=]/g;
const CODE_SHARE = 0.08;
const JSON_START = /^[[{]\s*["{[\]}]/;
const SHARE = 0.5;

/**
 * Base64, hex dumps, lock files and minified code: at least half of the text stands in such lines
 * (spec "compaction", "Decided since" 5). Linear.
 */
export function isData(text: string): boolean {
  let data = 0;
  let all = 0;
  for (const line of text.split("\n")) {
    all += line.length;
    if (line.length >= LONG && isDataLine(line)) data += line.length;
  }
  return all >= LONG * 4 && data >= SHARE * all;
}

function isDataLine(line: string): boolean {
  const words = line.trim();
  if (ENCODED.test(words) || DUMP.test(words) || LOCKED.test(words)) return true;
  if (words.length < MINIFIED_LINE || JSON_START.test(words)) return false;
  return (words.match(CODE_MARKS)?.length ?? 0) >= CODE_SHARE * words.length;
}
