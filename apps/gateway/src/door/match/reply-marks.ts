// Says by which hashes a reply is recognised, so that none of its words need be kept.
import { contentHash } from "../../text/content-hash.ts";
import type { ReplyEvent, RequestKind } from "./known-requests.ts";
import { hashOfForm, saidToken } from "./sketch.ts";
import { wordMark } from "./word-marks.ts";

/** A summary that is shorter tells nothing. */
const LEAST_SUMMARY = 40;

/** What was said and called, each as it came. */
export interface ReplyContents {
  /** Ids of its calls. */
  calls: readonly string[];
  /** Its calls by name and arguments; see `formOf`. */
  forms: readonly string[];
  /** One for each message. */
  texts: readonly string[];
}

export const replyMarks = (
  { kind, isForSummary }: { kind: RequestKind; isForSummary: boolean },
  { calls, forms, texts }: ReplyContents,
): Pick<ReplyEvent, "calls" | "forms" | "words" | "said" | "mark" | "summaries"> => {
  const isSummary = isForSummary && calls.length === 0;
  const summaries = texts.filter((text) => isSummary && text.trim().length >= LEAST_SUMMARY);
  const mark = kind === "turn" ? wordMark(texts.join("\n")) : undefined;
  return {
    ...{ calls, forms: forms.map(hashOfForm), words: hashOfWords(texts) },
    said: texts.map(saidToken),
    ...(mark && { mark }),
    ...(summaries.length > 0 && { summaries }),
  };
};

/** Clients trim, break lines otherwise, and compose letters. */
export const hashOfWords = (texts: readonly string[]): string =>
  contentHash(texts.join("\n").replace(/\s+/g, " ").trim().normalize());
