// The Gemini wire in the envelope that Google's command line client puts it in.
import { record, text } from "../server/json.ts";
import { type EmulatedWire, sse } from "../server/wire.ts";
import type { GeminiAccepted } from "./memory.ts";
import { chunksOf, document } from "./reply.ts";
import { type GeminiView, viewOf } from "./view.ts";
import { GEMINI_WIRE } from "./wire.ts";

const enveloped = (response: object) => ({ response });

export const GEMINI_CLI_WIRE: EmulatedWire<GeminiView, GeminiAccepted> = {
  ...GEMINI_WIRE,
  api: "google-gemini-cli",
  basePath: "",
  ends: /^\/(?:v1internal:\w+|v1beta\/models)$/,
  isCall: (path) => /\/v1internal:(?:streamG|g)enerateContent$/.test(path),
  view: (body) => {
    const { session_id: _session, ...request } = record(body.request);
    return viewOf(request, text(body.model));
  },
  modelOf: (body) => text(body.model),
  frames: (reply, exchange) => {
    const chunks = chunksOf(reply, exchange).map((chunk) => sse(enveloped(chunk)));
    return { frames: chunks, end: chunks.length - 1 };
  },
  document: (reply, exchange) => enveloped(document(reply, exchange)),
};
