// Every api by name, with its wire and its default policy.
import type { ApiRecord } from "./record.ts";

/** All apis that have rules of their own or a driver. */
export const APIS: readonly ApiRecord[] = [
  { id: "anthropic-messages", wire: "messages", policy: "signed-thinking" },
  { id: "bedrock-converse-stream", wire: "converse", policy: "signed-thinking" },
  { id: "openai-completions", wire: "chat", policy: "chat" },
  { id: "openai-responses", wire: "responses", policy: "responses" },
  { id: "openai-chatgpt-responses", wire: "responses", policy: "responses" },
  { id: "azure-openai-responses", wire: "responses", policy: "responses" },
  { id: "google-generative-ai", wire: "gemini", policy: "gemini" },
  { id: "google-gemini-cli", wire: "gemini", policy: "gemini" },
  { id: "google-antigravity", wire: "antigravity", policy: "gemini" },
  { id: "mistral-conversations", wire: "mistral" },
  { id: "ollama", wire: "ollama" },
  { id: "offline", wire: "offline" },
];

const BY_ID: ReadonlyMap<string, ApiRecord> = new Map(APIS.map((api) => [api.id, api]));

/** The record of an api; undefined for one the catalogue does not hold. */
export const findApi = (id: string): ApiRecord | undefined => BY_ID.get(id);
