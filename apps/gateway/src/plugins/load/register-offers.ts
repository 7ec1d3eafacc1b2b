// What a service, a program, a route or a method must have to be taken.
import { isRecord } from "@clew/plugin-sdk/host";
import { INTERNAL_EVENTS } from "./hook-rules.ts";
import type { RegisteredProgram, RegisteredRoute, RegisteredService } from "./offers.ts";
import { type Registering, registerHook, unreadable } from "./register.ts";
import { isReadable, nameIn, wrongKind } from "./registrations.ts";

type Handler = (...given: unknown[]) => unknown;
const isFunction = (value: unknown): value is Handler => typeof value === "function";

/** The members of `api` that take them; whatever is handed over may have any form. */
export function offerRegistrations(registering: Registering) {
  return {
    registerService: (service: unknown) => registerService(registering, service),
    registerCli: (registrar: unknown, options?: unknown) =>
      registerProgram(registering, registrar, options),
    registerHttpRoute: (...given: unknown[]) => registerRoute(registering, given),
    registerGatewayMethod: (name: unknown, handler: unknown) =>
      registerMethod(registering, name, handler),
    registerHook: (events: unknown, handler: unknown, options?: unknown) =>
      registerEvents(registering, { events, handler, options }),
  };
}

function registerService({ into, accepts, complain }: Registering, given: unknown): void {
  const { id, start, stop } = isRecord(given) ? given : {};
  if (!accepts("service", `service "${nameIn(id)}"`)) return;
  if (!isRecord(given)) {
    complain(wrongKind("registerService", "an object with id and start", given));
    return;
  }
  const { services } = into.offers;
  if (typeof id !== "string" || id.trim() === "" || !isFunction(start))
    complain("service registration missing id or start");
  else if (!isReadable(id)) complain(unreadable("service id", id));
  else if (services.some((service) => service.id === id.trim()))
    complain(`service already registered: ${id.trim()}`);
  else {
    // Called on their object: services may be class instances.
    const service: RegisteredService = {
      id: id.trim(),
      start: (context) => start.call(given, context),
      stop: isFunction(stop) ? (context) => stop.call(given, context) : undefined,
    };
    services.push(service);
  }
}

function registerProgram(
  { into, accepts, complain }: Registering,
  registrar: unknown,
  options: unknown,
): void {
  const planned = planProgram(registrar, isRecord(options) ? options : {});
  if (!accepts("program", "a command-line program")) return;
  if (typeof planned === "string") complain(planned);
  else into.offers.programs.push(planned);
}

/** Pure. Or why it is none. */
function planProgram(
  registrar: unknown,
  { commands, descriptors, parentPath }: Record<string, unknown>,
): RegisteredProgram | string {
  if (!isFunction(registrar))
    return wrongKind(
      "registerCli",
      "a function, and options with commands or descriptors",
      registrar,
    );
  const described = (Array.isArray(descriptors) ? descriptors : []).flatMap((each) =>
    isRecord(each) && isWord(each.name) ? [{ name: each.name, text: each.description }] : [],
  );
  const named = (Array.isArray(commands) ? commands : []).filter(isWord);
  const names = [...new Set([...named, ...described.map(({ name }) => name)])];
  if (names.length === 0)
    return "command-line registration names no command; its options need commands or descriptors";
  const descriptions = described.flatMap(({ name, text }): [string, string][] =>
    typeof text === "string" ? [[name, text]] : [],
  );
  return {
    ...{ names, registrar, descriptions: new Map(descriptions) },
    parentPath: Array.isArray(parentPath) ? parentPath.filter(isWord) : [],
  };
}

const isWord = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z][\w-]*$/i.test(value);

function registerRoute({ into, accepts, complain }: Registering, given: unknown[]): void {
  const planned = planRoute(given);
  if (!accepts("route", "an HTTP route")) return;
  if (typeof planned === "string") complain(planned, "warning");
  else if (into.offers.routes.some(({ path }) => path === planned.path))
    complain(`HTTP route already registered: ${planned.path}`);
  else into.offers.routes.push(planned);
}

/** Where the gateway answers itself. */
const OWN_PATHS = [
  ...["/api", "/open", "/assets", "/v1", "/v1beta"],
  ...["/healthz", "/readyz", "/metrics"],
];

/** Pure. Or why it is none. */
function planRoute([given]: unknown[]): RegisteredRoute | string {
  if (!isRecord(given) && typeof given !== "string")
    return wrongKind("registerHttpRoute", "an object with path, handler and auth", given);
  if (!isRecord(given))
    return "an HTTP route is registered as an object with path, handler and auth; this one is left out";
  const { path, handler, auth, match } = given;
  if (typeof path !== "string" || !path.startsWith("/") || !isFunction(handler))
    return "HTTP route registration missing path or handler";
  if (!isReadable(path)) return unreadable("HTTP route", path);
  const own = OWN_PATHS.find((start) => path === start || path.startsWith(`${start}/`));
  if (path === "/" || own !== undefined)
    return `HTTP route ${path} is the gateway's own; it is left out`;
  if (auth !== "gateway" && auth !== "plugin")
    return `HTTP route ${path} does not say who sees to access: auth must be "gateway" or "plugin"; it is left out`;
  return {
    ...{ path, auth },
    match: match === "prefix" ? "prefix" : "exact",
    handler: (request, response) => handler.call(given, request, response),
  };
}

function registerMethod(
  { into, accepts, complain }: Registering,
  name: unknown,
  handler: unknown,
): void {
  if (!accepts("method", `method ${nameIn(name)}`)) return;
  const { methods } = into.offers;
  if (typeof name !== "string" || name.trim() === "" || !isFunction(handler))
    complain("gateway method registration missing name or handler");
  else if (!isReadable(name)) complain(unreadable("method name", name));
  else if (methods.some((method) => method.name === name.trim()))
    complain(`gateway method already registered: ${name.trim()}`);
  else methods.push({ name: name.trim(), handler });
}

/** Hooks under their old names; those of `on` are taken as such. */
function registerEvents(
  registering: Registering,
  { events, handler, options }: { events: unknown; handler: unknown; options: unknown },
): void {
  const names = [events].flat().filter((name) => typeof name === "string");
  const about = isRecord(options) ? options : {};
  if (names.length === 0) registering.complain("hook registration names no event");
  const priority = typeof about.priority === "number" ? about.priority : 0;
  const told = names.flatMap((name) =>
    Object.hasOwn(INTERNAL_EVENTS, name) ? INTERNAL_EVENTS[name]! : [name],
  );
  registering.into.members.add("registerHook");
  for (const name of new Set(told)) registerHook(registering, name, handler as never, { priority });
}
