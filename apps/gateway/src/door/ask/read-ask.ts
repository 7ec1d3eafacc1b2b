// What a request of any wire asks besides its messages.
import type { DoorApi, DoorRequest, JsonObject } from "../wires/door-wire.ts";
import { askOfMessages } from "./ask-anthropic.ts";
import { askOfGoogle } from "./ask-google.ts";
import { askOfCompletions, askOfResponses } from "./ask-openai.ts";
import { type ClientAsk, clientAsk, type WireAsk } from "./client-ask.ts";

export const readAsk = (api: DoorApi, body: JsonObject, request: DoorRequest): ClientAsk =>
  clientAsk(READERS[api](body, request), request);

const READERS: Readonly<Record<DoorApi, (body: JsonObject, request: DoorRequest) => WireAsk>> = {
  "openai-completions": askOfCompletions,
  "openai-responses": askOfResponses,
  "anthropic-messages": askOfMessages,
  "google-generative-ai": askOfGoogle,
};
