// Every sentence the offline model says of its own, and how to take its quotes out again.

export const ACKNOWLEDGEMENT = "Noted.";
export const NOT_SHOWN =
  "I was not shown anything that answers this. I am the offline model: I compute replies without a language model and can only quote what stands in my context.";
export const NO_MESSAGE = "I was shown no message from a person.";
export const INTRODUCTION =
  "I am Clew's offline model. I run in this process without network or key, I am no language model, and I answer questions by quoting the best-matching sentence from what I was shown.";

/** A sentence that answers, as far as its words can tell. */
export const quote = (origin: string, sentence: string) => `From ${origin}: “${sentence}”`;
/** A sentence that shares some words with the question. */
export const closest = (origin: string, sentence: string) =>
  `The closest I was shown is from ${origin}: “${sentence}”`;
/** What a tool the person asked for gave back. */
export const toolAnswered = (name: string, text: string) =>
  `${name} answered: ${text === "" ? "(nothing)" : text}`;

const OWN = [ACKNOWLEDGEMENT, NOT_SHOWN, NO_MESSAGE, INTRODUCTION];
const QUOTED = /^(?:From|The closest I was shown is from) [^“\n]*: “([^\n]*)”$/;

/**
 * An earlier reply without our own words: quotes bare, so that a quote is never quoted with its
 * frame, and our phrases gone.
 */
export function unwrapQuotes(text: string): string {
  if (OWN.includes(text.trim())) return "";
  return text
    .split("\n")
    .map((line) => QUOTED.exec(line)?.[1] ?? line)
    .join("\n");
}
