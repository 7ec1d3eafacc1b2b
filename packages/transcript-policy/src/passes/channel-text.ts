// Finds what a channel puts around the message of a person.

const METADATA_ENDINGS = ["(untrusted metadata):", "(untrusted, for context):"];
const FENCE = "```";
const TAIL_START = "Untrusted context (metadata, ";
const TAIL_CONTENT = "<<<EXTERNAL_UNTRUSTED_CONTENT";
const LEADING_TIMESTAMP =
  /^\s*\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]*\][ \t]*/;

/**
 * The text without the blocks a channel puts around a message, and without the time before it; the
 * same string when it holds none. Takes time in proportion to the text's length (rule R2b).
 */
export function stripInboundMetadata(text: string): string {
  const bareOfBlocks = text.includes("(untrusted") ? stripBlocks(text) : text;
  const body = bareOfBlocks.includes(TAIL_START) ? stripTail(bareOfBlocks) : bareOfBlocks;
  const stamped = LEADING_TIMESTAMP.exec(body);
  const bare = stamped === null ? body : body.slice(stamped[0].length);
  return bare === text ? text : bare.trim();
}

/** A headline, then fenced JSON and the empty lines behind it; several may stand together. */
function stripBlocks(text: string): string {
  const lines = text.split("\n");
  const kept: string[] = [];
  // Without a closing fence behind one block, there is none behind a later one either.
  let isOpenEnded = false;
  for (let index = 0; index < lines.length; index++) {
    if (isOpenEnded || !opensBlock(lines, index)) {
      kept.push(lines[index]!);
      continue;
    }
    let close = index + 2;
    while (close < lines.length && lines[close]!.trimEnd() !== FENCE) close++;
    isOpenEnded = close === lines.length;
    if (isOpenEnded) kept.push(lines[index]!);
    else {
      index = close;
      while (lines[index + 1] === "" || lines[index + 1] === "\r") index++;
    }
  }
  return kept.join("\n");
}

function opensBlock(lines: readonly string[], index: number): boolean {
  const headline = lines[index]!.trimEnd();
  const fence = lines[index + 1]?.trimEnd();
  return (
    METADATA_ENDINGS.some((ending) => headline.endsWith(ending)) &&
    (fence === FENCE || fence === `${FENCE}json`)
  );
}

/** What follows the message, from its headline to the end. */
function stripTail(text: string): string {
  const content = text.lastIndexOf(TAIL_CONTENT);
  for (let at = text.indexOf(TAIL_START); at >= 0; at = text.indexOf(TAIL_START, at + 1)) {
    if (at > 0 && text[at - 1] !== "\n") continue;
    const end = text.indexOf("\n", at);
    if (end < 0 || end > content) return text;
    if (text.slice(at, end).trimEnd().endsWith("):")) return text.slice(0, Math.max(0, at - 1));
  }
  return text;
}
