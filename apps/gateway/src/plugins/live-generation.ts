// Keeps one generation of plugins until the last run that began with it is over.

import type { Generation } from "./generation.ts";
import type { ActiveMemory } from "./memory/choose-memory.ts";
import { besideEngine } from "./offer/beside-engine.ts";
import type { OwnedOffers } from "./offer/free-offers.ts";
import type { HookRunner } from "./offer/hook-runs.ts";
import type { Services } from "./offer/services.ts";
import type { OwnedTool } from "./offer/tools.ts";
import type { OwnedSkill } from "./skills/skill-tool.ts";

/** What a run needs of the plugins; the same to its end, whatever is reloaded meanwhile. */
export interface PluginsInUse {
  readonly hooks: HookRunner;
  readonly tools: readonly OwnedTool[];
  /** Those beside an engine of this owner; always the same array for the same one. */
  readonly toolsBeside: (owner: string) => readonly OwnedTool[];
  /** Names of tools that come with an engine, whichever one answers. */
  readonly engineTools: ReadonlySet<string>;
  readonly memory: ActiveMemory;
  readonly offers: Readonly<OwnedOffers>;
  readonly skillsBeside: (owner: string) => readonly OwnedSkill[];
}

export interface LiveGeneration {
  readonly plugins: Generation;
  readonly services: Services;
  /** Runs `work` with these plugins; until it has ended they are not told to stop. */
  use<Result>(work: (plugins: PluginsInUse) => Promise<Result>): Promise<Result>;
  /** True while a run uses them. */
  isInUse(): boolean;
  /** Tells the plugins, once, that they are replaced: at once, or after the last run. */
  retire(): Promise<void>;
  /** Tells them, once, that the gateway ends. */
  stop(reason: string): Promise<void>;
  /** What of them does not come to its end. */
  unfinished(): string[];
}

export interface GenerationParts {
  /** False: nobody but who looks at them loaded them, and they are told of no gateway. */
  isOfGateway: boolean;
  hooks: HookRunner;
  services: Services;
  /** Called once, after the plugins were told to stop. */
  closeMemory: () => Promise<void>;
}

/** What a start that still goes on is given at the end: the process is not there much longer. */
const START_MS = 250;

export function liveGeneration(
  plugins: Generation,
  { isOfGateway, hooks, services, closeMemory }: GenerationParts,
): LiveGeneration {
  const { tools, engines, memory, offers, skills, engineTools } = plugins;
  /** Always the same array for the same owner: what is made of it is kept by it. */
  const beside = <Owned extends { pluginId: string }>(owned: readonly Owned[]) => {
    const byOwner = new Map<string, readonly Owned[]>();
    return (owner: string) => {
      const known = byOwner.get(owner) ?? besideEngine(owned, { owner, engines, memory });
      byOwner.set(owner, known);
      return known;
    };
  };
  const offered = {
    ...{ hooks, tools, memory, offers, engineTools },
    toolsBeside: beside(tools),
    skillsBeside: beside(skills),
  };
  let users = 0;
  let onUnused = () => {};
  let stopped: Promise<void> | undefined;
  const stop = (reason: string) => {
    // What they still make of the last turns belongs to these.
    stopped ??= hooks
      .settled()
      .then(() => (isOfGateway ? hooks.emit("gateway_stop", { reason }) : undefined))
      .then(() => services.stop(START_MS))
      .then(closeMemory)
      .then(async () => void (await Promise.all(plugins.isolated.map(({ end }) => end()))));
    return stopped;
  };
  return {
    ...{ plugins, services, stop },
    unfinished: () => [...hooks.unsettled(), ...services.unfinished()],
    isInUse: () => users > 0,
    async use(work) {
      users++;
      try {
        return await work(offered);
      } finally {
        users--;
        if (users === 0) onUnused();
      }
    },
    async retire() {
      if (users > 0)
        await new Promise<void>((unused) => {
          onUnused = unused;
        });
      await stop("plugin replacement");
    },
  };
}
