// Starts the services of plugins, and gives each a bounded time to stop.

import { setTimeout as pause } from "node:timers/promises";
import type { LogPort } from "@clew/engine-core";
import type { PluginServiceContext } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { messageAndPlace } from "../load/error-place.ts";
import type { RegisteredService } from "../load/offers.ts";
import type { RunAs } from "../load/running.ts";
import { createPluginLogger } from "../load/runtime.ts";

export interface OwnedService extends RegisteredService {
  pluginId: string;
}

/** Those of one generation of plugins. */
export interface Services {
  /** Begins all of them, once; nobody waits for what they do. */
  start(): void;
  /**
   * Ends all that were begun, once; a service that hangs is left behind, and the log says so.
   * `startMs`: how long a start that still goes on is waited for. Absent: half of the whole time.
   */
  stop(startMs?: number): Promise<void>;
  /** Those that were told to stop and have not, by their plugins. */
  unfinished(): string[];
}

/** A gateway ends within seconds, whatever its plugins do. */
const STOP_MS = 5000;

export interface ServicesRequest {
  services: readonly OwnedService[];
  context: Omit<PluginServiceContext, "logger" | "stateDir">;
  /** The folder of a plugin, which is there. */
  stateDirOf: (pluginId: string) => string;
  log: LogPort;
  runAs: RunAs;
  /** Told what is written in the log of one that did not start. Absent: nobody is. */
  onFailedStart?: (pluginId: string, message: string) => void;
  /** How long one may take to stop. */
  stopMs?: number;
}

export function createServices({
  services,
  context,
  stateDirOf,
  log,
  runAs,
  onFailedStart,
  stopMs = STOP_MS,
}: ServicesRequest): Services {
  const begun: { service: OwnedService; settled: Promise<void> }[] = [];
  let stopping: Promise<void> | undefined;
  const contextOf = ({ pluginId }: OwnedService): PluginServiceContext => ({
    ...context,
    stateDir: stateDirOf(pluginId),
    logger: createPluginLogger(log, pluginId),
  });
  const warn =
    ({ pluginId, id }: OwnedService, what: string) =>
    (error: unknown) => {
      const message = `service ${id} ${what}: ${messageAndPlace(error)}`;
      log.warn(`[plugins] ${pluginId}: ${message}`);
      return message;
    };
  const begin = (service: OwnedService) =>
    runAs(service.pluginId, async () => void (await service.start(contextOf(service)))).catch(
      (error: unknown) => {
        const message = warn(service, "did not start")(error);
        onFailedStart?.(service.pluginId, message);
      },
    );
  const ending = new Set<OwnedService>();
  const end = ({ service, settled }: (typeof begun)[number], startMs: number) => {
    ending.add(service);
    const onTimeout = () => {
      throw new Error(`not finished within ${stopMs / 1000} s`);
    };
    return within({ boundMs: stopMs, onTimeout }, async () => {
      await Promise.race([settled, pause(startMs, undefined, { ref: false })]);
      await runAs(service.pluginId, () => service.stop?.(contextOf(service)));
    })
      .catch((error: unknown) => void warn(service, "did not stop")(error))
      .finally(() => ending.delete(service));
  };
  return {
    start() {
      if (begun.length > 0 || stopping !== undefined) return;
      for (const service of services) begun.push({ service, settled: begin(service) });
    },
    stop(startMs = stopMs / 2) {
      stopping ??= Promise.all(begun.map((each) => end(each, startMs))).then(() => {});
      return stopping;
    },
    unfinished: () =>
      [...ending].map(({ pluginId, id }) => `service ${id} of plugin "${pluginId}"`),
  };
}
