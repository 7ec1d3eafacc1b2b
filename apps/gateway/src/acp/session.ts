// What an editor can ask of one session that it holds.
import { randomUUID } from "node:crypto";
import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  LoadSessionResponse,
  PromptResponse,
  SessionConfigOption,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { LogPort } from "@clew/engine-core";
import { isAbort, type UserBlock } from "@clew/plugin-sdk/core";
import { headOf } from "@clew/plugin-sdk/transcript";
import { type CommandLine, parseLine } from "../commands/parse.ts";
import { listCommands } from "../commands/run.ts";
import { describeCommand } from "../commands/session.ts";
import { isEditors } from "../editors/editor-records.ts";
import type { Gateway } from "../gateway.ts";
import { sessionModelIn } from "../models/session-model.ts";
import { thinkingLevelIn } from "../models/thinking-level.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { shownEntries } from "../sessions/shown.ts";
import { textIn } from "../text/shown-text.ts";
import { planCommands } from "./commands.ts";
import {
  BY_SETTINGS,
  type Choices,
  OPTION_IDS,
  type OptionId,
  planModeState,
  planOptions,
} from "./config-options.ts";
import { createEditorClient } from "./editor-client.ts";
import { oldTextIn } from "./old-text.ts";
import { readPrompt } from "./prompt.ts";
import { AcpRefusal, INVALID_REQUEST, invalid, refusalOf } from "./refusal.ts";
import { planReplay } from "./replay.ts";
import { planStop } from "./stop-reason.ts";
import type { CallPlace } from "./tool-calls.ts";
import { createUpdates, noticeUpdate, textChunk } from "./updates.ts";

export interface EditorSessionOptions {
  gateway: Gateway;
  log: LogPort;
  client: AgentContext;
  capabilities: ClientCapabilities;
  /** As the editor calls it. */
  sessionId: string;
  /** Canonical. */
  key: string;
  /** Absolute. */
  cwd: string;
  /** Of the editor; null = it sent none. */
  servers: { close(): Promise<void> } | null;
  /** What the editor is told with the first prompt; null = nothing. */
  untold: string | null;
}

export interface EditorSession extends CallPlace {
  readonly sessionId: string;
  readonly key: string;
  /** Throws AcpRefusal. */
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse>;
  /** Every open prompt is answered with "cancelled". */
  cancel(): void;
  /** Tells the editor the whole conversation. */
  replay(): Promise<void>;
  /** What a session begins with. */
  state(): Promise<LoadSessionResponse>;
  /** What the editor is told once it knows the session. */
  announce(): Promise<void>;
  /** Tells the editor something besides the conversation. */
  note(text: string): void;
  /** Throws AcpRefusal. */
  setMode(mode: string): Promise<void>;
  /** Throws AcpRefusal. */
  setOption(id: string, value: unknown): Promise<SessionConfigOption[]>;
  /** Cancels what is open; resolves when that is over. */
  close(): Promise<void>;
}

/** Of the first prompt. */
const TITLE_CHARS = 80;
/** How long a prompt that was cancelled waits for the end of a turn that is others', too. */
const LEAVE_MS = 5000;

export function openEditorSession(options: EditorSessionOptions): EditorSession {
  const { gateway, log, client, capabilities, sessionId, key, cwd } = options;
  const { editors, host } = gateway;
  let { untold } = options;
  const agentId = parseSessionName(key)!.agentId;
  const own = new Set<string>();
  const open = new Map<AbortController, Promise<unknown>>();
  const tell = (...updates: SessionUpdate[]) => {
    // One that is gone is told nothing, and what it asked for is ended elsewhere.
    for (const update of updates)
      client.notify("session/update", { sessionId, update }).catch(() => {});
  };
  const place: CallPlace = {
    cwd,
    textOf: (path) => oldTextIn({ root: cwd, home: gateway.home }, path),
  };
  const updates = createUpdates({
    ...place,
    abilities: capabilities,
    isOwn: (name) => name !== undefined && own.has(name),
  });
  const leave = editors.hold(key, {
    cwd,
    client: createEditorClient({
      ...{ client, sessionId, capabilities },
      onTerminal: (callId, terminalId) =>
        tell(...updates.note(callId, [{ type: "terminal", terminalId }])),
    }),
  });
  const unlisten = gateway.events.listen(key, (event) => {
    tell(...updates.of(event));
    if (event.type === "command" && event.ok && CHOOSING.has(event.command))
      void tellOptions().catch(quiet);
  });
  const quiet = (error: unknown) =>
    log.warn(`an editor could not be told of session ${key}: ${refusalOf(error).message}`);

  const choices = async (): Promise<Choices> => {
    const branch = (await gateway.session(key))?.branch ?? [];
    const settings = host.model(agentId).name;
    const chosen = sessionModelIn(branch) ?? null;
    const { configured, engineId } = await host.inspectEngine(agentId);
    return {
      ...{ modes: editors.modes, mode: editors.modeOf(key) },
      models: [...new Set([settings, ...host.usableModels()])],
      model: { chosen, settings },
      thinking: thinkingLevelIn(branch) ?? null,
      engines: host.engineIds(),
      engine: {
        chosen: editors.recordOf(key)?.engine ?? null,
        settings: configured ?? engineId,
      },
    };
  };
  const tellOptions = async () => {
    const configOptions = planOptions(await choices());
    tell({ sessionUpdate: "config_option_update", configOptions });
  };
  const tellUsage = async () => {
    const { context, cost } = await gateway.status(key);
    const { spent } = cost;
    tell({
      ...{ sessionUpdate: "usage_update", used: context.tokens, size: context.contextWindow },
      ...(spent.modelCalls > 0 &&
        spent.unknown === 0 && { cost: { amount: spent.dollars, currency: "USD" } }),
    });
  };
  const nameIt = async (content: string | UserBlock[]) => {
    if (!isEditors(key) || editors.recordOf(key)?.title !== undefined) return;
    const title = headOf(textIn(content).trim().replaceAll(/\s+/g, " "), TITLE_CHARS);
    if (title === "") return;
    await editors.change(key, { title });
    tell({ sessionUpdate: "session_info_update", title, updatedAt: new Date().toISOString() });
  };
  const say = async (content: string | UserBlock[], signal: AbortSignal) => {
    await nameIt(content).catch(quiet);
    const idempotencyKey = `acp:${randomUUID()}`;
    own.add(idempotencyKey);
    const sent = gateway.send({ key, content, signal, idempotencyKey, isWatched: true });
    const result = await untilLeft(sent, signal);
    if (result === "left") return "cancelled";
    await tellUsage().catch(quiet);
    const { maxModelCalls } = host.config.agents.defaults;
    const isStopping = gateway.isStopping() && !signal.aborted;
    return planStop({ result, isStopping, maxModelCalls });
  };
  const command = async (line: CommandLine, signal: AbortSignal) => {
    const { say: next, text } = await gateway.command(key, line, { signal });
    tell(textChunk("agent_message_chunk", text));
    if (next !== undefined) return say(next, signal);
    await tellUsage().catch(quiet);
    return "end_turn";
  };
  const choose = async (name: string, value: string) => {
    const line = { kind: "command", name, args: value } as const;
    const { ok, text } = await gateway.command(key, line);
    if (!ok) throw new AcpRefusal(INVALID_REQUEST, text, { code: "REQUEST_INVALID" });
  };
  const setMode = async (mode: string) => {
    const { modes } = editors;
    const found = modes.find(({ id }) => id === mode);
    if (found === undefined)
      throw invalid(
        `There is no mode "${mode}" here; there is: ${modes.map(({ id }) => id).join(", ")}.`,
      );
    await editors.change(key, { mode: found.id });
  };
  const cancel = () => {
    for (const abort of open.keys()) abort.abort(cancelled());
  };
  return {
    ...place,
    ...{ sessionId, key, cancel },
    note: (text) => tell(noticeUpdate(capabilities, text)),
    async prompt(blocks, given) {
      const content = readPrompt(blocks, cwd);
      if (untold !== null) tell(noticeUpdate(capabilities, untold));
      untold = null;
      const abort = new AbortController();
      const { signal } = abort;
      const leave = () => abort.abort(cancelled());
      if (given.aborted) leave();
      else given.addEventListener("abort", leave, { once: true });
      const line = typeof content === "string" ? parseLine(content) : undefined;
      const work =
        line?.kind === "command" ? command(line, signal) : say(line?.text ?? content, signal);
      open.set(
        abort,
        work.catch(() => {}),
      );
      try {
        return { stopReason: await work };
      } catch (error) {
        if (signal.aborted && isAbort(error, signal)) return { stopReason: "cancelled" };
        throw refusalOf(error);
      } finally {
        open.delete(abort);
        given.removeEventListener("abort", leave);
      }
    },
    async replay() {
      const found = await gateway.session(key);
      const entries = shownEntries(found?.branch ?? []);
      tell(...planReplay({ entries, abilities: capabilities, cwd }));
    },
    async state() {
      const known = await choices();
      return { modes: planModeState(known), configOptions: planOptions(known) };
    },
    async announce() {
      const commands = [...listCommands(), ...pluginCommands(gateway)];
      tell({
        sessionUpdate: "available_commands_update",
        availableCommands: planCommands(commands),
      });
      await tellUsage().catch(quiet);
    },
    async setMode(mode) {
      await setMode(mode);
      void tellOptions().catch(quiet);
    },
    async setOption(id, value) {
      const known = OPTION_IDS.find((each) => each === id);
      if (known === undefined)
        throw invalid(`There is no option "${id}"; there is: ${OPTION_IDS.join(", ")}.`);
      if (typeof value !== "string") throw invalid(`The option "${id}" takes a text.`);
      await setKnown(known, value);
      return planOptions(await choices());
    },
    async close() {
      cancel();
      await Promise.all(open.values());
      leave();
      unlisten();
      await options.servers?.close();
    },
  };

  async function setKnown(id: OptionId, value: string): Promise<void> {
    if (id === "mode") {
      await setMode(value);
      return tell({ sessionUpdate: "current_mode_update", currentModeId: editors.modeOf(key) });
    }
    if (id === "model") return choose("model", value);
    if (id === "thinking") return choose("think", value);
    const engine = value === BY_SETTINGS ? undefined : value;
    if (engine !== undefined && !host.engineIds().includes(engine))
      throw invalid(`There is no engine "${engine}"; there is: ${host.engineIds().join(", ")}.`);
    await editors.change(key, { engine });
  }

  /** A turn that goes on with others is left, after a while. */
  function untilLeft<Result>(sent: Promise<Result>, signal: AbortSignal): Promise<Result | "left"> {
    const left = Promise.withResolvers<"left">();
    let timer: NodeJS.Timeout | undefined;
    const leaveSoon = () => {
      timer = setTimeout(() => left.resolve("left"), LEAVE_MS);
    };
    if (signal.aborted) leaveSoon();
    else signal.addEventListener("abort", leaveSoon, { once: true });
    return Promise.race([sent, left.promise]).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", leaveSoon);
    });
  }
}

/** Commands after which other things are chosen. */
const CHOOSING: ReadonlySet<string> = new Set(["model", "think", "undo", "retry", "new"]);

const cancelled = () => new DOMException("Cancelled in the editor.", "AbortError");

const pluginCommands = ({ plugins }: Gateway) =>
  (plugins?.commands() ?? [])
    .flatMap(describeCommand)
    .map(({ word, description }) => ({ usage: `/${word}`, description }));
