// Takes the rewrite of the transcript that an engine asks for, checked like stored messages.
import type { TranscriptRewriteRequest } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { kindOf, type Reading, readAt, refuse, refuseWhole, takeFrom } from "./plain-data.ts";
import { takeMessage } from "./taken-messages.ts";

/** Throws in words for the engine when it is none. */
export function takeRewriteRequest(request: unknown): TranscriptRewriteRequest {
  const taken = takeFrom((reading): TranscriptRewriteRequest => {
    if (!isRecord(request)) return refuseWhole(request, "an object");
    const { replacements, allowedRewriteSuffixEntryIds: allowed } = request;
    return {
      replacements: readAt(reading, "replacements", () =>
        listOf(replacements).map((item, index) =>
          readAt(reading, index, () => takeReplacement(reading, item)),
        ),
      ),
      ...(allowed !== undefined && {
        allowedRewriteSuffixEntryIds: readAt(reading, "allowedRewriteSuffixEntryIds", () =>
          listOf(allowed).map((id, index) => readAt(reading, index, () => textOf(id))),
        ),
      }),
    };
  });
  if (taken.ok) return taken.value;
  throw new TypeError(`Nothing was rewritten: in the request, ${taken.problem}.`);
}

function takeReplacement(reading: Reading, item: unknown) {
  if (!isRecord(item)) return refuse(`is ${kindOf(item)}; expected an object`);
  const { entryId, message } = item;
  return {
    entryId: readAt(reading, "entryId", () => textOf(entryId)),
    message: readAt(reading, "message", () => takeMessage(reading, message)),
  };
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? Array.from<unknown>(value)
    : refuse(`is ${kindOf(value)}; expected a list`);
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : refuse(`is ${kindOf(value)}; expected a string`);
