// Does in a plugin's own process what its host asks of the plugin.
import { existsSync } from "node:fs";
import type { ContextEngine, PluginTool } from "@clew/plugin-sdk/core";
import { messageOf } from "../invalid.ts";
import { messageAndPlace } from "../load/error-place.ts";
import type { Registrations } from "../load/registrations.ts";
import type {
  CallHelp,
  EngineAnswer,
  IsolatedOffer,
  IsolatedOrder,
  ListedTools,
  MadeEngine,
  MakeRequest,
  SaidInfo,
  ToolContext,
  ToolRequest,
} from "./order.ts";
import type { Verbs } from "./peer.ts";
import { canBeSent } from "./sent-errors.ts";

/** A plugin that was loaded here. */
export interface Loaded {
  order: IsolatedOrder;
  registrations: Registrations;
  engines: Map<number, LiveEngine>;
}

interface LiveEngine {
  engine: ContextEngine;
  /** What it said of itself when it was asked last, as JSON. */
  said: string;
}

export interface ServedPlugin {
  loaded: () => Loaded;
  /** Runs code of the plugin with what its host lends it. */
  run: <Result>(help: CallHelp, work: () => Result) => Result;
}

/** Pure but for making the tools once for each agent. */
export function offerOf({ registrations, order }: Loaded): IsolatedOffer {
  const { engines, commands, tools } = registrations;
  const diagnostics = [...registrations.diagnostics];
  const listed = tools.map(({ names, make }): ListedTools => {
    const ofAgent = (context: ToolContext): ListedTools["tools"][number] => {
      const { agentId } = context;
      try {
        return { agentId, made: toList(make(context)).map(withoutFunctions) };
      } catch (error) {
        const message = `a tool could not be created, so it is not offered to agent "${agentId}": ${messageAndPlace(error)}`;
        if (hasFolder(context)) diagnostics.push({ level: "error", message });
        return { agentId, made: [] };
      }
    };
    return { names, tools: order.listedFor.map(ofAgent) };
  });
  return {
    engines: engines.map(({ engineId }) => engineId),
    tools: listed,
    commands: commands.map(withoutFunctions),
    diagnostics,
  };
}

/** Whoever only looks at a plugin makes no folders: one that a tool misses is no fault of it. */
const hasFolder = ({ agentDir }: ToolContext) => agentDir === undefined || existsSync(agentDir);

export function servePlugin({ loaded, run }: ServedPlugin): Verbs {
  let made = 0;
  const live = (number: number): LiveEngine => {
    const found = loaded().engines.get(number);
    if (found === undefined) throw new Error("the engine is not there any more");
    return found;
  };
  return {
    async make({ engineId, context }: MakeRequest): Promise<MadeEngine | { product: unknown }> {
      const found = loaded().registrations.engines.find((each) => each.engineId === engineId);
      if (found === undefined) throw new Error(`its plugin registers no engine "${engineId}"`);
      const product: unknown = await run({}, () => found.factory(context));
      if (typeof product !== "object" || product === null) return { product };
      const engine = product as ContextEngine;
      const info = infoOf(engine);
      const number = ++made;
      loaded().engines.set(number, { engine, said: JSON.stringify(info) });
      return { number, info, methods: functionsOf(engine) };
    },
    async engine(
      number: number,
      { method, given, help }: { method: string; given: unknown[]; help: CallHelp },
    ): Promise<EngineAnswer> {
      const called = live(number);
      const { engine } = called;
      const value: unknown = await run(help, () =>
        (engine as unknown as Record<string, (...given: unknown[]) => unknown>)[method]!(...given),
      );
      const info = infoOf(engine);
      const said = JSON.stringify(info);
      if (said === called.said) return { value };
      called.said = said;
      return { value, info };
    },
    async tool(request: ToolRequest): Promise<unknown> {
      const { place, name, context, callId, params, signal } = request;
      return run({}, () => {
        const { make } = loaded().registrations.tools[place]!;
        const tool = toList(make(context)).find((each) => each.name === name);
        if (tool === undefined) throw new Error(`its plugin offers no ${name} in this session`);
        return tool.execute(callId, params, signal);
      });
    },
    async command(place: number, context: object): Promise<unknown> {
      const { config } = loaded().order;
      const command = loaded().registrations.commands[place]!;
      return run({}, () => command.handler({ ...context, config }));
    },
    async end(): Promise<void> {
      const engines = [...loaded().engines.values()];
      await Promise.allSettled(
        engines.map(async ({ engine }) => run({}, () => engine.dispose?.())),
      );
    },
  };
}

function infoOf(engine: ContextEngine): SaidInfo {
  try {
    const { info } = engine;
    return canBeSent(info)
      ? { ok: true, info }
      : { ok: false, reason: "info holds what is no plain data" };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

/** Own ones and those of its class. */
function functionsOf(engine: object): string[] {
  const names = new Set<string>();
  for (
    let at: object | null = engine;
    at !== null && Object.getPrototypeOf(at) !== null;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
  const isFunction = (name: string) => {
    try {
      return typeof (engine as unknown as Record<string, unknown>)[name] === "function";
    } catch {
      return false;
    }
  };
  return [...names].filter(isFunction);
}

const toList = (made: PluginTool | PluginTool[] | null | undefined): PluginTool[] =>
  made === null || made === undefined ? [] : Array.isArray(made) ? made : [made];

function withoutFunctions<Held extends object>(holder: Held): Held & Record<string, unknown> {
  const fields = Object.entries(holder).filter(
    ([, value]) => typeof value !== "function" && canBeSent(value),
  );
  return Object.fromEntries(fields) as Held & Record<string, unknown>;
}
