// Makes what is quoted safe to stand inside the tags of hosts and engines.

/** The tags that hosts and engines write around what they keep, and around what they quote. */
const OURS = [
  ...["record", "open-request", "summary", "ledger", "anchor", "anchors", "pin", "pins"],
  ...["conversation", "previous-summary", "focus"],
];
const LONGEST = Math.max(...OURS.map((name) => name.length));
/** As it is written, wide or small. */
const OPENER = /[<＜﹤]/g;
/** Terminal commands. */
const COMMAND = String.raw`\u001b\[[0-9;?]*[ -/]*[@-~]`;
/** What no reader sees between two characters, or may take out. */
const IGNORED = new RegExp(
  String.raw`(?:${COMMAND}|[\u0000-\u0008\u000e-\u001f\u007f-\u009f\p{Cf}\p{Cs}\p{Mn}\u115f\u1160\u3164\uffa0])`,
  "uy",
);
const BLANK = /\s/;
const WORD = /[\p{L}\p{N}_]/u;

/** Commands, control characters, and marks that hide or turn a text; not joiners of letters. */
const UNSEEN = new RegExp(
  String.raw`${COMMAND}|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]`,
  "g",
);

/**
 * `text` in which every tag of ours is only text, and so is what somebody would read as one: with
 * unseen characters in it, or in letters of another width. Escaping twice changes nothing more
 * (spec "compaction", "Decided since" 4). Linear.
 */
export function escapeTags(text: string): string {
  return text.replace(OPENER, (opener, at: number) =>
    isOurs(text, at + opener.length) ? "&lt;" : opener,
  );
}

/** Whether a name of ours stands behind an angle bracket, with or without a slash before it. */
function isOurs(text: string, from: number): boolean {
  let name = "";
  let mayClose = true;
  for (let at = from; at < text.length; ) {
    const unseen = unseenAt(text, at);
    const char = String.fromCodePoint(text.codePointAt(at)!);
    const read = unseen > 0 ? "" : char.normalize("NFKC").toLowerCase();
    at += unseen > 0 ? unseen : char.length;
    if (read === "" || (name === "" && BLANK.test(read))) continue;
    if (read === "/" && mayClose && name === "") mayClose = false;
    else if (/^[a-z-]+$/.test(read)) name += read;
    else if (WORD.test(read)) return false;
    else break;
    if (name.length > LONGEST) break;
  }
  return OURS.some((ours) => name === ours || name.startsWith(`${ours}-`));
}

function unseenAt(text: string, at: number): number {
  IGNORED.lastIndex = at;
  return IGNORED.exec(text)?.[0].length ?? 0;
}

/** `text` without what a reader would not see; line feeds and tabs stay. */
export const withoutUnseen = (text: string): string => text.replace(UNSEEN, "");
