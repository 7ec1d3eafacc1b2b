// Runs the HTTP routes and the methods of plugins.
import type { IncomingMessage, ServerResponse } from "node:http";
import { within } from "@clew/plugin-sdk/host";
import { fromJson, toJson } from "../../own-json.ts";
import { notOffered } from "../invalid.ts";
import type { RunAs } from "../load/running.ts";
import { inRequest, type PluginScope } from "../load/scope.ts";
import { describeThrown } from "../stray-errors.ts";
import type { OwnedMethod, OwnedRoute } from "./free-offers.ts";

/** Pure. The route at a path: the one that is the path, else the longest that begins it. */
export function routeAt(routes: readonly OwnedRoute[], path: string): OwnedRoute | undefined {
  const below = ({ match, path: start }: OwnedRoute) =>
    match === "prefix" && path.startsWith(start.endsWith("/") ? start : `${start}/`);
  return (
    routes.find((route) => route.path === path) ??
    routes.filter(below).sort((a, b) => b.path.length - a.path.length)[0]
  );
}

/** False: the plugin says that the request is none of its. Throws what the handler throws. */
export async function runRoute(
  { pluginId, handler }: OwnedRoute,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { scope, runAs }: { scope: PluginScope; runAs: RunAs },
): Promise<boolean> {
  const answer = await inRequest(scope, () =>
    runAs(pluginId, async () => handler(request, response)),
  );
  return answer !== false || response.headersSent;
}

/** What a method answered. */
export type MethodAnswer = { ok: true; payload: unknown } | { ok: false; error: unknown };

const METHOD_MS = 60_000;

/** Throws PLUGIN_NOT_FOUND where nobody has it. */
export function methodOf(methods: readonly OwnedMethod[], name: string): OwnedMethod {
  const method = methods.find((each) => each.name === name);
  if (method !== undefined) return method;
  throw notOffered(
    `No plugin offers the method "${name}"; there is: ${methods.map((each) => each.name).join(", ") || "none"}.`,
  );
}

/**
 * The first answer counts, whatever the method does behind it. An error that it throws before is
 * thrown on.
 */
export async function runMethod(
  method: OwnedMethod,
  params: Record<string, unknown>,
  { scope, runAs }: { scope: PluginScope; runAs: RunAs },
): Promise<MethodAnswer> {
  const { name } = method;
  const nothing: MethodAnswer = { ok: false, error: `method ${name} gave no answer` };
  const onTimeout = (): MethodAnswer => ({
    ok: false,
    error: `method ${name} gave no answer within ${METHOD_MS / 1000} s`,
  });
  const { promise: first, resolve } = Promise.withResolvers<MethodAnswer>();
  const respond = (ok: boolean, payload?: unknown, error?: unknown) =>
    resolve(ok ? { ok, payload: payload ?? null } : { ok: false, error: error ?? payload ?? null });
  const answer = await within<MethodAnswer>({ boundMs: METHOD_MS, onTimeout }, () =>
    inRequest(scope, async () => {
      const run = async () => {
        try {
          await runAs(method.pluginId, async () => method.handler({ params, respond }));
        } catch (error) {
          if (error instanceof Error) throw error;
          return failed(method, error);
        }
        return nothing;
      };
      return Promise.race([first, run()]);
    }),
  );
  return asSent(method, answer, runAs);
}

/** What is no error has nothing that says where it is from. */
const failed = ({ pluginId, name }: OwnedMethod, thrown: unknown): MethodAnswer => ({
  ok: false,
  error: `plugin "${pluginId}": method ${name} failed: ${describeThrown(thrown)}`,
});

/** What it answered as it is sent: reading it may run code of the plugin's. */
function asSent({ pluginId, name }: OwnedMethod, answer: MethodAnswer, runAs: RunAs): MethodAnswer {
  try {
    return fromJson(runAs(pluginId, () => toJson(answer))) as MethodAnswer;
  } catch (error) {
    const why = `plugin "${pluginId}": method ${name} gave an answer that is no JSON: ${describeThrown(error)}`;
    return { ok: false, error: why };
  }
}
