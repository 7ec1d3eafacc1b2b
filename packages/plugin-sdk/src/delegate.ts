// Hands an engine's compact() to the host's built-in compaction, if the host has one.
import type { CompactParams, CompactResult } from "./contract/lifecycle.ts";
import { functionOf, loadOpenClaw } from "./other-host.ts";

/** The host's built-in compaction as an engine reaches it. */
export type RuntimeCompaction = (params: CompactParams) => Promise<CompactResult>;

/**
 * What a host installs: an AsyncLocalStorage, or anything else that knows which call is running.
 */
export interface CompactionSlot {
  /**
   * The built-in compaction of the engine call that is running; undefined = none is, or it has
   * none.
   */
  getStore(): RuntimeCompaction | undefined;
}

// Ambient by necessity: an engine that accepts no host parameters must still reach the host
// (contract §5).
const SLOT = Symbol.for("clew.runtime-compaction");
const DELEGATES = Symbol.for("openclaw.runtimeCompactionDelegates");

type Ambient = { [SLOT]?: CompactionSlot; [DELEGATES]?: WeakSet<object> };
const ambient = globalThis as Ambient;

/**
 * Hosts only: where `delegateCompactionToRuntime` looks first; `slot` is an AsyncLocalStorage the
 * host enters around each engine call.
 */
export function provideRuntimeCompaction(slot: CompactionSlot): void {
  ambient[SLOT] = slot;
}

/** The slot installed by a host in this process, whichever copy of the package installed it. */
export function runtimeCompactionSlot(): CompactionSlot | undefined {
  return ambient[SLOT];
}

/**
 * What a `compact` method that owns no compaction returns (contract §5). Never calls back into an
 * engine. `compactionTarget` is ignored: the built-in compaction always works to the budget. A host
 * without built-in compaction gives `{ ok: false, compacted: false, code: "no-built-in", reason }`.
 */
export async function delegateCompactionToRuntime(params: CompactParams): Promise<CompactResult> {
  const builtIn = runtimeCompactionSlot()?.getStore() ?? fromContext(params);
  if (builtIn !== undefined) return builtIn(resolveTarget(params));
  const ofOpenClaw = await compactionOfOpenClaw();
  if (ofOpenClaw !== undefined) return ofOpenClaw(params);
  return {
    ok: false,
    compacted: false,
    code: "no-built-in",
    reason: "this host offers no built-in compaction",
  };
}

/** A slot means that Clew is the host, which answers that import with this very function. */
async function compactionOfOpenClaw(): Promise<RuntimeCompaction | undefined> {
  if (runtimeCompactionSlot() !== undefined) return undefined;
  const delegate = functionOf(await loadOpenClaw(), "delegateCompactionToRuntime");
  return delegate as RuntimeCompaction | undefined;
}

/**
 * True for `delegateCompactionToRuntime` of any copy: hosts give it a bound that progress extends.
 */
export function isRuntimeCompactionDelegate(value: unknown): boolean {
  return typeof value === "function" && (ambient[DELEGATES]?.has(value) ?? false);
}

ambient[DELEGATES] ??= new WeakSet();
ambient[DELEGATES].add(delegateCompactionToRuntime);

function fromContext(params: CompactParams): RuntimeCompaction | undefined {
  const compact = params.runtimeContext?.compactTranscript;
  return typeof compact === "function" ? (compact as RuntimeCompaction) : undefined;
}

/** Explicit parameters win over the context's; the two must name the same session and agent. */
function resolveTarget(params: CompactParams): CompactParams {
  const { compactionTarget: _ignored, runtimeContext, ...explicit } = params;
  const { sessionFile: _file, ...context } = runtimeContext ?? {};
  const sessionKey = explicit.sessionKey ?? text(context.sessionKey);
  const agentId = explicit.agentId ?? text(context.agentId) ?? explicit.sessionTarget?.agentId;
  const sessionTarget = explicit.sessionTarget ?? context.sessionTarget;
  if (sessionTarget !== undefined && sessionTarget.sessionId !== params.sessionId)
    throw new Error("Compaction target conflicts with the caller session identity");
  if (
    sessionTarget?.sessionKey !== undefined &&
    sessionKey !== undefined &&
    sessionTarget.sessionKey !== sessionKey
  )
    throw new Error("Compaction target conflicts with the caller session identity");
  if (sessionTarget !== undefined && agentId !== undefined && sessionTarget.agentId !== agentId)
    throw new Error("Compaction target conflicts with its agent identity");
  const currentTokenCount = explicit.currentTokenCount ?? wholeOf(context.currentTokenCount);
  return {
    ...explicit,
    ...(sessionKey !== undefined && { sessionKey }),
    ...(agentId !== undefined && { agentId }),
    ...(sessionTarget !== undefined && { sessionTarget }),
    ...(currentTokenCount !== undefined && { currentTokenCount }),
    runtimeContext: context,
  };
}

const text = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;
const wholeOf = (value: unknown) =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : undefined;
