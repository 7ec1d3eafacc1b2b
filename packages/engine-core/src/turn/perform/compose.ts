// Puts a request's messages together and measures them.
import {
  type AgentMessage,
  isAbort,
  type UserBlock,
  type UserMessage,
} from "@clew/plugin-sdk/core";
import {
  countCalls,
  growthPerCall,
  newestTokensOf,
  pause,
  promptTokensOf,
  type SessionPace,
  type ToolDefinition,
} from "@clew/plugin-sdk/host";
import { capToolResults } from "@clew/plugin-sdk/transcript";
import { describeError } from "../../engine/quarantine.ts";
import { readerAmong } from "../../request/reader.ts";
import { sizeOf } from "../../request/request-size.ts";
import {
  asChanged,
  asHookedPrompt,
  joinItems,
  messagesOf,
  type ViewItem,
} from "../../request/view-item.ts";
import type { Ask } from "../effects.ts";
import type { Answer } from "../facts.ts";
import type { PromptAdditions } from "../turn-request.ts";
import { runningTurn } from "./transcript.ts";
import { sessionOf, type World } from "./world.ts";

/**
 * The chosen history, the running turn with what hooks added, every tool result capped. Every step
 * looks at all of it.
 */
export async function compose(
  world: World,
  asked: Extract<Ask, { do: "compose" }>,
): Promise<Extract<Answer, { type: "composed" }>> {
  const { state } = world;
  const tools = await changedTools(world);
  const turn = runningTurn(world, asked.promptId);
  const whole = asked.addTurn ? joinItems(asked.items, turn) : asked.items;
  const items = cap(world, withAdditions(world, whole, asked));
  const messages = messagesOf(items);
  await pause();
  const size = sizeOf(state, messages);
  await pause();
  return {
    type: "composed",
    items,
    size,
    unwindowed:
      asked.unwindowed === null
        ? null
        : sizeOf(state, shown(world, messagesOf(joinItems(asked.unwindowed, turn)))),
    newestTokens: newestTokensOf(messages),
    pace: paceOf(world),
    lastPromptTokens: state.lastUsage === undefined ? 0 : promptTokensOf(state.lastUsage),
    ...(tools !== undefined && { tools }),
  };
}

/** What is offered from this request on; undefined = what was offered until now. */
async function changedTools(world: World): Promise<readonly ToolDefinition[] | undefined> {
  const { ports, setup, signal } = world;
  const { tools } = ports;
  if (tools === undefined || setup.purpose === "compaction") return undefined;
  const session = sessionOf(world);
  try {
    await tools.refresh?.({ session, signal });
    const listed = tools.list(session);
    return sameTools(listed, setup.tools) ? undefined : listed;
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    ports.log.warn(
      `tools are offered as before: they could not be listed: ${describeError(error)}`,
    );
    return undefined;
  }
}

const sameTools = (some: readonly ToolDefinition[], others: readonly ToolDefinition[]): boolean =>
  some.length === others.length &&
  some.every((tool, at) => tool === others[at] || toJson(tool) === toJson(others[at]!));

const toJson = ({ name, description, parameters }: ToolDefinition): string =>
  JSON.stringify([name, description, parameters]);

/** What the branch says of the session so far; looks at what is new, and at its newest calls. */
function paceOf({ state, setup }: World): SessionPace {
  const { branch } = state;
  state.callCount = countCalls(branch, state.callCount);
  return {
    calls: state.callCount.calls,
    growthTokens: setup.settings.water.costFirst
      ? growthPerCall(branch, setup.model.contextWindow)
      : 0,
  };
}

/** Long tool results as every request shows them. */
const shown = ({ setup }: World, messages: readonly AgentMessage[]) =>
  capToolResults(messages, setup.model.contextWindow, readerAmong(setup.tools));

function cap({ state, setup }: World, items: readonly ViewItem[]): readonly ViewItem[] {
  const messages = messagesOf(items);
  const capped = state.capped.view(messages, setup.model.contextWindow, readerAmong(setup.tools));
  if (capped === messages) return items;
  return items.map((item, index) => {
    if (capped[index] === item.message) return item;
    // The same object for every call, so that what is known of it holds.
    const message = state.table.canonical(capped[index]!);
    const { source } = item.why;
    return {
      ...item,
      message,
      why: source.kind === "entry" ? asChanged(source.entryId, item.why) : item.why,
    };
  });
}

/** The same object for every call of the turn, so that what is known of it holds. */
function withAdditions(
  { state }: World,
  items: readonly ViewItem[],
  { promptId, additions }: Extract<Ask, { do: "compose" }>,
): readonly ViewItem[] {
  if (additions === null || (!additions.prependContext && !additions.appendContext)) return items;
  return items.map((item) =>
    item.id === promptId && item.message.role === "user" && item.why.source.kind === "entry"
      ? {
          ...item,
          message: state.table.canonical(addContext(item.message, additions)),
          why: asHookedPrompt(item.why.source.entryId),
        }
      : item,
  );
}

function addContext(
  message: UserMessage,
  { prependContext, appendContext }: PromptAdditions,
): AgentMessage {
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
