// Who writes the replies of which wire.
import type { DoorApi } from "../wires/door-wire.ts";
import type { ReplyWriter } from "./reply-writer.ts";
import { MESSAGES_REPLY } from "./write-anthropic.ts";
import { COMPLETIONS_REPLY } from "./write-completions.ts";
import { GENERATE_CONTENT_REPLY } from "./write-google.ts";
import { RESPONSES_REPLY } from "./write-responses.ts";

export const REPLY_WRITERS: Readonly<Record<DoorApi, ReplyWriter>> = {
  "openai-completions": COMPLETIONS_REPLY,
  "openai-responses": RESPONSES_REPLY,
  "anthropic-messages": MESSAGES_REPLY,
  "google-generative-ai": GENERATE_CONTENT_REPLY,
};
