// Finds what a person asked first, among all that clients say beside it.

/** Characters of a list's row. */
const MOST = 160;

/** Some clients put the person's words between these. */
const AROUND_WORDS = /<(task|user_query|user_request|user_message)>([\s\S]*?)<\/\1>/;

const LEADING_BLOCK = /^\s*<([A-Za-z][\w-]*)(?:\s[^>]*)?>[\s\S]*?<\/\1>/;
const REMINDERS = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

/** How messages begin that are the client's from end to end. */
const CLIENTS_OWN = [/^# AGENTS\.md instructions\b/, /^This is the Gemini CLI\. We are setting up/];

/**
 * Pure. `texts`: what stands in user messages, part by part, before anybody answered; `isAll`:
 * nothing more of that comes. Undefined: nothing is said in words, or not yet.
 */
export function firstWords(texts: readonly string[], isAll: boolean): string | undefined {
  const isSaid = (text: string) => text !== "";
  const words = texts.map((text) => inOneLine(wordsIn(text))).find(isSaid);
  return words ?? (isAll ? texts.map(inOneLine).find(isSaid) : undefined);
}

function wordsIn(text: string): string {
  const [, , around] = AROUND_WORDS.exec(text) ?? [];
  let left = around ?? text.replaceAll(REMINDERS, "");
  for (;;) {
    const next = left.replace(LEADING_BLOCK, "");
    if (next === left) break;
    left = next;
  }
  return CLIENTS_OWN.some((begins) => begins.test(left.trimStart())) ? "" : left;
}

/** Some clients quote what they were given on their command line. */
function inOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const [, quoted] = /^"([^"]+)"$/.exec(line) ?? [];
  const words = quoted ?? line;
  return words.length > MOST
    ? `${words.slice(0, MOST - 1).replace(/[\uD800-\uDBFF]$/, "")}…`
    : words;
}
