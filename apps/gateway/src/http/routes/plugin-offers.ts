// Takes requests for the HTTP routes and the methods of plugins.

import type { LogPort } from "@clew/engine-core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import type { Gateway } from "../../gateway.ts";
import { notOffered } from "../../plugins/invalid.ts";
import { messageAndPlace } from "../../plugins/load/error-place.ts";
import { methodOf, routeAt, runMethod, runRoute } from "../../plugins/offer/plugin-requests.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import { gatewayStopping } from "../../stopping.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse } from "../errors.ts";
import { NO_SNIFFING } from "../node-outlet.ts";
import { readObject } from "../object-body.ts";
import type { PageFile } from "../page.ts";

const FOR_THE_PERSON =
  "This is for the person of this home: send the token of gateway.auth.token (Authorization: Bearer), or open the link that clew approvals link prints.";

const BAD_PARAMS =
  'The body of a method\'s request is { "params": { … } } with what the method is given, or nothing.';

/** Undefined: it is no such body. */
function paramsIn(text: string): Record<string, unknown> | undefined {
  const { params = {}, ...others } = readObject(text) ?? { params: null };
  return isRecord(params) && Object.keys(others).length === 0 ? params : undefined;
}

/** Of a plugin. The page may answer for the person: nobody stands in for it. */
export function pluginRouteAt(
  { plugins }: Pick<Gateway, "plugins">,
  page: ReadonlyMap<string, PageFile>,
  path: string,
) {
  const isPage = path === "/" || page.has(path);
  return plugins === undefined || isPage ? undefined : routeAt(plugins.offers().routes, path);
}

/** To be added after all routes of the API, whose addresses are the gateway's own. */
export function addPluginOffers(
  app: Hono,
  gateway: Gateway,
  options: { callers: Callers; page: ReadonlyMap<string, PageFile>; log: LogPort },
): void {
  const scope = () => ({
    agentId: parseSessionName(gateway.canonicalKey("main"))?.agentId ?? "main",
  });

  app.post("/api/plugins/methods/:name", async (context) => {
    const { plugins } = gateway;
    if (plugins === undefined) throw notOffered("This gateway runs without plugins.");
    if (personAt(options.callers.of(context)) === undefined)
      return refuse(context, "FORBIDDEN", FOR_THE_PERSON);
    const given = paramsIn(await context.req.text());
    if (given === undefined) return refuse(context, "REQUEST_INVALID", BAD_PARAMS);
    const name = context.req.param("name");
    const { runAs } = plugins;
    const failed = (pluginId: string, error: unknown) => {
      const what = `method ${name} failed: ${messageAndPlace(error)}`;
      options.log.warn(`[plugins] ${pluginId}: ${what}`);
      return refuse(context, "INTERNAL", `Plugin "${pluginId}": ${what}.`);
    };
    return plugins.use(async ({ offers }) => {
      const method = methodOf(offers.methods, name);
      try {
        const answer = await runMethod(method, given, { scope: scope(), runAs });
        return context.json(answer, answer.ok ? 200 : 400);
      } catch (error) {
        return failed(method.pluginId, error);
      }
    });
  });

  app.all("*", async (context, next) => {
    const { plugins } = gateway;
    const route = pluginRouteAt(gateway, options.page, context.req.path);
    if (plugins === undefined || route === undefined) return next();
    if (gateway.isStopping()) throw gatewayStopping();
    if (route.auth === "gateway" && personAt(options.callers.of(context)) === undefined)
      return refuse(context, "FORBIDDEN", FOR_THE_PERSON);
    const { incoming: request, outgoing: response } = context.env as HttpBindings;
    response.setHeader(...NO_SNIFFING);
    try {
      const isTaken = await plugins.use(() =>
        runRoute(
          route,
          { request, response: response as never },
          { scope: scope(), runAs: plugins.runAs },
        ),
      );
      return isTaken ? RESPONSE_ALREADY_SENT : await next();
    } catch (error) {
      const what = `HTTP route ${route.path} failed: ${messageAndPlace(error)}`;
      options.log.warn(`[plugins] ${route.pluginId}: ${what}`);
      if (!response.headersSent)
        return refuse(context, "INTERNAL", `Plugin "${route.pluginId}": ${what}.`);
      response.destroy();
      return RESPONSE_ALREADY_SENT;
    }
  });
}
