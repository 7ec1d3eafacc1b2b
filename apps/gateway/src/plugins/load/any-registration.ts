// Takes registrations of kinds that this host does nothing with, and says so.

/** Members of `api` that hold more of them; plugins reach into these without a check. */
const GROUPS = ["session", "agent", "lifecycle", "runContext"];

/** Functions of OpenClaw's `api` that are called without a check, too, and register nothing. */
const CALLED = [
  ...["emitAgentEvent", "enqueueNextTurnInjection", "onConversationBindingResolved"],
  ...["setRunContext", "getRunContext", "clearRunContext", "sendSessionAttachment"],
  ...["scheduleSessionTurn", "unscheduleSessionTurnsByTag"],
];

/**
 * An `api` on which every member that is called `register…` can be called, and what else plugins
 * of OpenClaw call, whether this host has it or not, and all that stands in a group: a plugin that
 * registers more than it needs here does the rest of its work. `tell` is given the member's name.
 */
export function acceptAnyRegistration<Api extends object>(
  api: Api,
  tell: (member: string) => void,
): Api {
  return accepting(api, [], tell);
}

function accepting<Target extends object>(
  target: Target,
  path: readonly string[],
  tell: (member: string) => void,
): Target {
  const made = new Map<string, unknown>();
  const make = (key: string, known: unknown): unknown => {
    const here = [...path, key];
    const refuse = () => tell(here.join("."));
    if (isRegistration(key)) return refuse;
    return accepting((known ?? refuse) as object, here, tell);
  };
  const isMade = (key: PropertyKey, known: unknown): key is string =>
    typeof key === "string" &&
    (known === undefined
      ? isRegistration(key) || (path.length === 0 ? GROUPS.includes(key) : isMember(key))
      : typeof known === "object" && (path.length > 0 || GROUPS.includes(key)));
  return new Proxy(target, {
    has: (holder, key) => Reflect.has(holder, key) || isMade(key, undefined),
    get(holder, key) {
      const known: unknown = Reflect.get(holder, key);
      if (!isMade(key, known)) return known;
      if (!made.has(key)) made.set(key, make(key, known));
      return made.get(key);
    },
  });
}

const isRegistration = (key: string) => /^register[A-Z]/.test(key) || CALLED.includes(key);

/** Not what the language itself asks of an object. */
const isMember = (key: string) =>
  /^[a-z][A-Za-z]*$/.test(key) && !["then", "constructor", "prototype", "name"].includes(key);
