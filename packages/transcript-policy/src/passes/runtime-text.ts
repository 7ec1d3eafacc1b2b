// Finds runtime context inside a text, in the formats that transcripts hold.

const BEGIN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
const END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";

const NOTICE =
  "This context is runtime-generated, not user-authored. Keep internal details private.";
const EVENT = "[Internal task completion event]";
const EVENTS_HEADER = `OpenClaw runtime context (internal):\n${NOTICE}\n\n`;
const NEXT_EVENT = "\n\n---\n\n";
const CHILD_BEGIN = "<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>";
const CHILD_END = "<<<END_UNTRUSTED_CHILD_RESULT>>>";
const ACTION = "\n\nAction:\n";
const BLANK_LINE = "\n\n";

/** What older hosts put before a prompt; a later sentence of it may begin the line as well. */
const PREFACES: readonly (readonly string[])[] = [
  [
    "OpenClaw runtime context for the active user request in this turn.",
    "Do not reply to or describe this context.",
    "Use it to continue answering the active user request now.",
    "Do not wait for another message.",
  ],
  ["OpenClaw runtime context for the immediately preceding user message."],
  ["OpenClaw runtime event."],
];
const PREFACE_STARTS: readonly string[] = PREFACES.flatMap((sentences) =>
  sentences.map((_, index) => sentences.slice(index).join(" ")),
);

/**
 * The text without blocks of runtime context; the same string when it holds none. Takes time in
 * proportion to the text's length (rule R2b).
 */
export function stripInternalRuntimeContext(text: string): string {
  const delimited = text.includes(BEGIN) || text.includes(END) ? stripDelimited(text) : text;
  return delimited.includes(NOTICE) ? stripPrefaces(stripEvents(delimited)) : delimited;
}

/** Blocks between the two delimiters, each on a line of its own; an end that ends none goes. */
function stripDelimited(text: string): string {
  const kept: string[] = [];
  let part: string[] = [];
  let depth = 0;
  let changed = false;
  for (const line of text.split("\n")) {
    const marker = line.trim();
    if (marker === BEGIN) {
      if (depth === 0) kept.push(part.join("\n"));
      part = depth === 0 ? [] : part;
      depth += 1;
    } else if (marker === END) depth = Math.max(0, depth - 1);
    else if (depth === 0) part.push(line);
    changed ||= marker === BEGIN || marker === END;
  }
  if (!changed) return text;
  if (depth === 0) kept.push(part.join("\n"));
  return joinPieces(kept);
}

function joinPieces(pieces: readonly string[]): string {
  return pieces
    .map((piece, index) =>
      index === 0
        ? piece.trimEnd()
        : index === pieces.length - 1
          ? piece.trimStart()
          : piece.trim(),
    )
    .filter((piece) => piece !== "")
    .join(BLANK_LINE);
}

/** Completion events behind their header; what follows the last of them is speech. */
function stripEvents(text: string): string {
  const find = {
    event: finder(text, EVENT),
    child: finder(text, CHILD_BEGIN),
    childEnd: finder(text, CHILD_END),
  };
  const pieces: string[] = [];
  let rest = 0;
  for (let at = nextLine(text, EVENTS_HEADER, 0); at >= 0; ) {
    const event = at + EVENTS_HEADER.length;
    if (!text.startsWith(EVENT, event)) {
      at = nextLine(text, EVENTS_HEADER, event);
      continue;
    }
    pieces.push(text.slice(rest, at));
    rest = endOfEvent(text, event, find);
    while (text.startsWith(NEXT_EVENT + EVENT, rest))
      rest = endOfEvent(text, rest + NEXT_EVENT.length, find);
    at = nextLine(text, EVENTS_HEADER, rest);
  }
  return pieces.length === 0 ? text : joinPieces([...pieces, text.slice(rest)]);
}

/** An event with a result ends after its action, any other at the next blank line. */
function endOfEvent(
  text: string,
  event: number,
  find: { event: Finder; child: Finder; childEnd: Finder },
): number {
  const begin = find.child(event);
  const other = find.event(event + EVENT.length);
  if (begin >= 0 && (other < 0 || begin < other)) {
    const end = find.childEnd(begin);
    const action = end + CHILD_END.length;
    if (end >= 0 && text.startsWith(ACTION, action))
      return blankLineAfter(text, action + ACTION.length);
  }
  return blankLineAfter(text, event);
}

function blankLineAfter(text: string, from: number): number {
  const blank = text.indexOf(BLANK_LINE, from);
  return blank < 0 ? text.length : blank;
}

/** Only the words go, wherever a line starts with them; the rest of the text stays. */
function stripPrefaces(text: string): string {
  const kept: string[] = [];
  let rest = 0;
  for (let start = 0; start >= 0; start = text.indexOf("\n", start) + 1 || -1) {
    if (start < rest) continue;
    const end = endOfPreface(text, start);
    if (end === undefined) continue;
    kept.push(text.slice(rest, start));
    rest = end;
  }
  if (rest === 0) return text;
  const stripped = kept.join("") + text.slice(rest);
  return kept[0] === "" ? stripped.trimStart() : stripped;
}

/** Where a preface that starts here ends, with the notice in the same paragraph. */
function endOfPreface(text: string, start: number): number | undefined {
  const words = PREFACE_STARTS.find((sentences) => text.startsWith(sentences, start));
  if (words === undefined) return undefined;
  let notice = start + words.length;
  while (text[notice] === " " || text[notice] === "\t") notice++;
  if (text.startsWith("\r\n", notice)) notice += 2;
  else if (text[notice] === "\n") notice++;
  return text.startsWith(NOTICE, notice) ? notice + NOTICE.length : undefined;
}

/** Where `words` next stands at the start of a line; -1 = nowhere. */
function nextLine(text: string, words: string, from: number): number {
  for (let at = text.indexOf(words, from); at >= 0; at = text.indexOf(words, at + 1))
    if (at === 0 || text[at - 1] === "\n") return at;
  return -1;
}

type Finder = (from: number) => number;

/** `indexOf` for positions that only grow: the text is gone through once. */
function finder(text: string, words: string): Finder {
  let found = -1;
  let asked = -1;
  return (from) => {
    if (asked < 0 || (found >= 0 && found < from)) found = text.indexOf(words, from);
    asked = from;
    return found;
  };
}
