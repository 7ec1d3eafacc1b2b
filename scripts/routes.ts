// Reads the HTTP routes of the gateway from the app that serves them.
import { GatewayConfigSchema } from "../apps/gateway/src/config/gateway.ts";
import type { Gateway } from "../apps/gateway/src/gateway.ts";
import { createCallers } from "../apps/gateway/src/http/access/caller.ts";
import { createApp } from "../apps/gateway/src/http/app.ts";
import { silentLog } from "../apps/gateway/src/log/silent.ts";

export interface HttpRoute {
  /** "ALL" for one that answers every method. */
  method: string;
  path: string;
}

/** Every route, the page's and what guards several addresses left out. */
export function httpRoutes(): HttpRoute[] {
  const identity = { homeHash: "", secret: "", startedAt: "" };
  const settings = GatewayConfigSchema.parse({});
  const app = createApp({
    // Registering routes asks nothing of it.
    gateway: {} as Gateway,
    log: silentLog,
    port: () => 1,
    page: new Map(),
    version: "0.0.0",
    ...{ identity, settings },
    callers: createCallers({ identity, tokens: [], port: () => 1 }),
  });
  return app.routes
    .filter(({ path }) => !path.endsWith("*"))
    .map(({ method, path }) => ({ method, path }));
}

/** The first cells of a README's table under a heading, without their code marks. */
export function rowsUnder(readme: string, heading: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const [, table = ""] = /((?:^\|.*\n)+)/m.exec(section) ?? [];
  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell!);
}
