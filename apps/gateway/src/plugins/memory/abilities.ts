// Knows whether the chosen memory can be searched and read.
import type { HostSession, LogPort } from "@clew/engine-core";
import type { MemorySearchManager } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import type { RunAs } from "../load/running.ts";
import { inPluginScope } from "../load/scope.ts";
import type { OwnedMemory } from "./choose-memory.ts";
import { openManagers } from "./close-memory.ts";
import { type Taken, takeManager } from "./memory-answers.ts";

/** A memory that takes its time must not keep a turn waiting for long, ms. */
const ASK_MS = 1_000;

export interface MemoryAbilities {
  search: boolean;
  get: boolean;
}

interface Known extends MemoryAbilities {
  /** Null: there is none now, so there may be one later. */
  manager: MemorySearchManager | null;
}

/** By agent id. */
const known = new WeakMap<OwnedMemory, Map<string, Known>>();
/** Agents whose manager somebody waits for. */
const asking = new WeakMap<OwnedMemory, Set<string>>();

/** Of an agent's manager, as far as it has ever answered; else all, and a call tells why not. */
export const abilitiesOf = (memory: OwnedMemory, agentId: string): MemoryAbilities =>
  known.get(memory)?.get(agentId) ?? { search: true, get: true };

/** What the plugin gives for a manager; what that can do is known from now on. */
export async function askManager(
  memory: OwnedMemory,
  { cfg, agentId }: { cfg: unknown; agentId: string },
): Promise<ReturnType<typeof takeManager>> {
  const given: unknown = await memory.capability.runtime!.getMemorySearchManager({ cfg, agentId });
  const taken = takeManager(given);
  note(memory, agentId, taken);
  return taken;
}

function note(memory: OwnedMemory, agentId: string, { value }: Taken<Given | null>): void {
  if (value === null) return;
  const { manager } = value;
  const search = typeof manager?.search === "function";
  const get = typeof manager?.readFile === "function";
  const agents = known.get(memory) ?? new Map();
  known.set(memory, agents.set(agentId, { manager, search, get }));
}

type Given = NonNullable<ReturnType<typeof takeManager>["value"]>;

export interface AbilitiesRequest {
  memory: OwnedMemory;
  session: HostSession;
  runAs: RunAs;
  log: LogPort;
  /** The whole configuration, as plugins see it. */
  cfg: unknown;
  /** Absent: ASK_MS. */
  boundMs?: number;
}

/**
 * Asks for the agent's manager where there is none yet; one that hangs is waited for once. Never
 * rejects: what a plugin does wrong here it does again, and is told, when its memory is used.
 */
export async function learnAbilities(request: AbilitiesRequest): Promise<void> {
  const { memory, session, boundMs = ASK_MS } = request;
  const { agentId } = session;
  const waited = asking.get(memory) ?? new Set();
  asking.set(memory, waited);
  const hasManager = (known.get(memory)?.get(agentId)?.manager ?? null) !== null;
  if (memory.capability.runtime === undefined || hasManager || waited.has(agentId)) return;
  waited.add(agentId);
  const answer = ask(request).finally(() => waited.delete(agentId));
  await within({ boundMs, onTimeout: () => {} }, () => answer);
}

async function ask({ memory, session, runAs, log, cfg }: AbilitiesRequest): Promise<void> {
  const { agentId } = session;
  const { pluginId } = memory;
  const work = () => askManager(memory, { cfg, agentId });
  try {
    const had = known.get(memory)?.has(agentId);
    const { value } = await inPluginScope(session, () => runAs(pluginId, work));
    if (value?.manager)
      await openManagers(memory, { runAs, log }).during(agentId, value.manager, hold);
    else if (value !== null && !had)
      log.warn(
        `[plugins] ${pluginId}: its memory cannot be searched${value.error === undefined ? "" : `: ${value.error}`}`,
      );
  } catch {
    // A call of its tools says it.
  }
}

/** It is the agent's from now on, and closed with the others. */
const hold = async () => {};
