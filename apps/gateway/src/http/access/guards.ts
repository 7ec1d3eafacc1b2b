// Adds to an app what every request has to pass before it reaches a route.
import type { LogPort } from "@clew/engine-core";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import { type GatewayIdentity, isProvenRequest, REQUEST_PROOF } from "../../home/identity.ts";
import { refuse } from "../errors.ts";
import { type OwnNames, refuseForeign } from "../guard.ts";
import { isLookedAt, sentencePage } from "../sentence-page.ts";
import { type Admission, admit } from "./admit.ts";
import type { Callers } from "./caller.ts";
import { createRates } from "./rates.ts";

export interface GuardOptions {
  identity: GatewayIdentity;
  callers: Callers;
  log: Pick<LogPort, "warn">;
  names: () => OwnNames;
  /** Of one token, or of one address; 0 = any. */
  requestsPerMinute: number;
  /** True: a plugin's address, which asks by itself who is there. */
  isPluginsOwn: (path: string) => boolean;
}

/** Wrong tokens of one address in a minute, until it is not listened to any more. */
const FAILURES_PER_MINUTE = 10;

/** Answered to everybody; what they tell depends on who asks. */
const HEALTH: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/api/health"]);

/** No plugin answers there, whatever it says. */
const OWN = /^\/(api|v1|v1beta|metrics)(\/|$)/;

const METHODS: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
]);

/** Returns what is to be told when somebody tried a wrong link. */
export function addAccessGuards(app: Hono, options: GuardOptions): (context: Context) => void {
  const { identity, callers, log, names, isPluginsOwn } = options;
  const requests = createRates({ perMinute: options.requestsPerMinute });
  const failures = createRates({ perMinute: FAILURES_PER_MINUTE });
  /** Of whose wrong tokens the log was told. */
  const told = createRates({ perMinute: 1 });
  app.use(async (context, next) => {
    await next();
    addSafeHeaders(context);
  });
  app.use(async (context, next) => {
    // Others cannot be made a request of, and nobody here takes them.
    if (METHODS.has(context.req.method)) return next();
    return refuse(context, "NOT_FOUND", "Nothing here is done by this method.");
  });
  app.use(async (context, next) => {
    const reason = refuseForeign(arrivalOf(context), names());
    return reason === null ? next() : refuse(context, "FORBIDDEN", reason);
  });
  app.use(async (context, next) => {
    const proof = context.req.header(REQUEST_PROOF);
    const { method, url } = context.req;
    const asked = { method, path: new URL(url).pathname };
    if (proof === undefined || isProvenRequest(identity.secret, proof, asked)) return next();
    return refuse(context, "FORBIDDEN", "The request is meant for the gateway of another home.");
  });
  app.use(async (context, next) =>
    (await callers.isProven(context)) ? next() : refuse(context, "FORBIDDEN", NOT_PROVEN),
  );
  app.use(async (context, next) => {
    const { method, path } = context.req;
    // Commands and the watchdog ask how the gateway is before anybody is known to them.
    if (HEALTH.has(path)) return next();
    const isPublic = path.startsWith("/open/") || (!OWN.test(path) && isPluginsOwn(path));
    const asked = { method, path, isPublic, address: addressOf(context) };
    const admission = admit(callers.of(context), asked, {
      ...{ requests, failures, needsToken: callers.needsToken },
    });
    if (admission.kind === "heard") return next();
    const isGuessing = admission.kind === "too-often" && admission.isGuessing;
    if (isGuessing && told.waitOf(asked.address) === 0) {
      told.add(asked.address);
      log.warn(`wrong tokens from ${asked.address || "this machine"} are not looked at for now`);
    }
    return turnAway(context, admission);
  });
  return (context) => failures.add(addressOf(context));
}

function arrivalOf({ req }: Context) {
  return {
    ...{ method: req.method, path: req.path },
    ...{ host: req.header("host"), origin: req.header("origin") },
    fetchSite: req.header("sec-fetch-site"),
    fetchMode: req.header("sec-fetch-mode"),
    fetchDest: req.header("sec-fetch-dest"),
  };
}

const addressOf = ({ env }: Context): string =>
  (env as Partial<HttpBindings>)?.incoming?.socket?.remoteAddress ?? "";

/** Pages of other sites learn nothing, and no browser takes an answer for something else. */
function addSafeHeaders({ res: { headers } }: Context): void {
  headers.set("x-content-type-options", "nosniff");
  headers.set("cross-origin-resource-policy", "same-origin");
  if (!headers.has("referrer-policy")) headers.set("referrer-policy", "no-referrer");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
}

function turnAway(
  context: Context,
  admission: Exclude<Admission, { kind: "heard" }>,
): Response | Promise<Response> {
  switch (admission.kind) {
    case "unknown":
      context.header("www-authenticate", 'Bearer realm="clew"');
      if (isLookedAt(context)) return sentencePage(context, 401, NOT_OPENED);
      return refuse(context, "UNAUTHORIZED", `${admission.isWrong ? WRONG : UNKNOWN}: ${SHOW_ONE}`);
    case "too-little": {
      const { has, needed } = admission;
      const message = `This token is for "${has}", and this needs one for "${needed}" (gateway.auth.tokens).`;
      return refuse(context, "FORBIDDEN", message);
    }
    case "too-often": {
      const { waitSeconds, isGuessing } = admission;
      context.header("retry-after", String(waitSeconds));
      const what = isGuessing
        ? "Wrong tokens came from this address too often"
        : "More requests came than gateway.limits.requestsPerMinute allows";
      return refuse(context, "RATE_LIMITED", `${what}; try again in ${waitSeconds} s.`);
    }
  }
}

const NOT_PROVEN =
  "The request says that another gateway let it in, and no gateway that lives on the same storage says so; ask again, without the header x-clew-let-in.";
const NOT_OPENED =
  "This browser was not let in yet: open the link that clew start printed, or the one that clew approvals link prints on the machine of this gateway.";

const UNKNOWN = "This gateway answers to those who show a token";

const WRONG = "The token that came is none of this gateway's";

const SHOW_ONE =
  'send one of gateway.auth as Authorization: Bearer (or x-api-key, x-goog-api-key, x-clew-token), which "clew connect NAME --write" does for a coding agent, or, for the page, open the link that clew start and clew approvals link print.';
