// Writes what a call asks and its contents as one Gemini request.
import type { ModelCall } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { profileFor } from "../shared/profile.ts";
import { wellFormedJson } from "../shared/well-formed.ts";
import { type AskFields, askFields } from "./ask.ts";
import { type GeminiContent, writeContents } from "./contents.ts";
import type { GeminiPart } from "./parts.ts";
import { placeOf } from "./place.ts";

/** A whole request, as JSON. */
export interface GeminiBody<Part = GeminiPart> extends AskFields {
  systemInstruction?: { parts: { text: string }[] };
  contents: GeminiContent<Part>[];
}

/** As JSON; `more`: fields that only the envelope has. */
export function writeBody(
  call: ModelCall,
  endpoint: Endpoint,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const { model, messages, systemPrompt } = call;
  const profile = profileFor(model, endpoint);
  const head = {
    ...more,
    ...(systemPrompt.trim() !== "" && { systemInstruction: { parts: [{ text: systemPrompt }] } }),
    ...askFields(call, profile),
  } satisfies Omit<GeminiBody, "contents">;
  const contents = writeContents(messages, { model, profile, place: placeOf(model, endpoint) });
  // The contents are text already, so that the old ones need not be written again.
  const json = wellFormedJson(head).slice(0, -1);
  return `${json}${json === "{" ? "" : ","}"contents":[${contents}]}`;
}
