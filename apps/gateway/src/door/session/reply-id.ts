// Ids of replies that lead back to the turn they belong to, so that no list of them is kept.
import { fromJson, toJson } from "../../own-json.ts";

/** Where a reply stands. */
export interface ReplyPlace {
  /** Canonical key of its session. */
  key: string;
  /** The message that began its turn. */
  entryId: string;
  /** Which of the turn's answers it is, from 0 on. */
  answer: number;
}

const MARK = "clew";

/** Letters, digits, "-" and "_". */
export const replyId = ({ key, entryId, answer }: ReplyPlace): string =>
  MARK + Buffer.from(toJson([key, entryId, answer])).toString("base64url");

/** `id`: with the prefix of its wire, or without. Undefined: Clew did not give it. */
export function placeOfReply(id: string): ReplyPlace | undefined {
  const [, encoded] = /^(?:resp_)?clew([\w-]+)$/.exec(id) ?? [];
  if (encoded === undefined) return undefined;
  try {
    const value: unknown = fromJson(Buffer.from(encoded, "base64url").toString());
    if (!Array.isArray(value)) return undefined;
    const [key, entryId, answer] = value as unknown[];
    return typeof key === "string" && typeof entryId === "string" && typeof answer === "number"
      ? { key, entryId, answer }
      : undefined;
  } catch {
    return undefined;
  }
}
