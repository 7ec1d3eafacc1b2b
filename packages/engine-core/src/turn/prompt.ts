// Step 4 of a turn, in which the person's message becomes durable as it was sent.
import type { UserBlock, UserMessage } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import type { SystemPart } from "../request/request-items.ts";
import type { Assembly } from "./assembly.ts";
import type { PromptAdditions } from "./turn-request.ts";
import type { AdmittedMessage, TurnRun } from "./turn-run.ts";

export interface AdmittedPrompt {
  message: UserMessage;
  /** As the model reads it. */
  modelView: UserMessage;
  system: readonly SystemPart[];
  toolsAllow: readonly string[] | undefined;
}

/**
 * Stores the prompt, once per turn however often it is tried; once this resolved,
 * a crash does not lose it.
 */
export async function admitPrompt(run: TurnRun, assembly: Assembly): Promise<AdmittedPrompt> {
  run.admitted ??= await admit(run, assembly);
  const { message, additions } = run.admitted;
  return {
    message,
    modelView: addContext(message, additions),
    system: addSystem(assembly.system, additions),
    toolsAllow: additions.toolsAllow,
  };
}

async function admit(run: TurnRun, assembly: Assembly): Promise<AdmittedMessage> {
  const { request, report } = run;
  const additions =
    (await request.beforePromptBuild?.({
      prompt: textOf({ role: "user", content: request.prompt.content }),
      messages: assembly.messages,
    })) ?? {};
  const message: UserMessage = {
    timestamp: run.startedAt,
    idempotencyKey: `${report.turnId}:user`,
    ...request.prompt,
    role: "user",
  };
  const [entry] = await run.transcript.append([{ type: "message", message }]);
  report.promptEntryId = entry!.id;
  run.emit({ type: "accepted", entryId: entry!.id });
  // As it was stored, with its id.
  return {
    message: entry!.type === "message" ? (entry!.message as UserMessage) : message,
    additions,
  };
}

function addContext(
  message: UserMessage,
  { prependContext, appendContext }: PromptAdditions,
): UserMessage {
  if (!prependContext && !appendContext) return message;
  if (typeof message.content === "string")
    return {
      ...message,
      content: [prependContext, message.content, appendContext].filter(Boolean).join("\n\n"),
    };
  const block = (text: string | undefined): UserBlock[] => (text ? [{ type: "text", text }] : []);
  return {
    ...message,
    content: [...block(prependContext), ...message.content, ...block(appendContext)],
  };
}

function addSystem(
  parts: readonly SystemPart[],
  additions: PromptAdditions,
): readonly SystemPart[] {
  const part = (id: string, text: string | undefined): SystemPart[] => (text ? [{ id, text }] : []);
  const base = additions.systemPrompt ? part("hook", additions.systemPrompt) : parts;
  return [
    ...part("hook-before", additions.prependSystemContext),
    ...base,
    ...part("hook-after", additions.appendSystemContext),
  ];
}
