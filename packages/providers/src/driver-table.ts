// Every driver there is, as `pnpm run docs` finds them in the folder.
import { anthropicMessages } from "./drivers/anthropic-messages.ts";
import { bedrockConverseStream } from "./drivers/bedrock-converse-stream.ts";
import { googleGeminiCli } from "./drivers/google-gemini-cli.ts";
import { googleGenerativeAi } from "./drivers/google-generative-ai.ts";
import { mistralConversations } from "./drivers/mistral-conversations.ts";
import { offline } from "./drivers/offline.ts";
import { openaiChatgptResponses } from "./drivers/openai-chatgpt-responses.ts";
import { openaiCompletions } from "./drivers/openai-completions.ts";
import { openaiResponses } from "./drivers/openai-responses.ts";
import type { Driver } from "./provider.ts";

export const DRIVER_TABLE: readonly Driver[] = [
  anthropicMessages,
  bedrockConverseStream,
  googleGeminiCli,
  googleGenerativeAi,
  mistralConversations,
  offline,
  openaiChatgptResponses,
  openaiCompletions,
  openaiResponses,
];
