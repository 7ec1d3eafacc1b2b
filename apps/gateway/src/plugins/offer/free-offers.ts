// Who gets a route, a method or a word of the command line that two plugins want.
import type {
  Offers,
  RegisteredMethod,
  RegisteredProgram,
  RegisteredRoute,
} from "../load/offers.ts";
import type { Registrations } from "../load/registrations.ts";
import { OWN_WORDS } from "./own-words.ts";
import type { OwnedService } from "./services.ts";

export type OwnedProgram = RegisteredProgram & { pluginId: string };
export type OwnedRoute = RegisteredRoute & { pluginId: string };
export type OwnedMethod = RegisteredMethod & { pluginId: string };

export interface OwnedOffers {
  services: OwnedService[];
  programs: OwnedProgram[];
  routes: OwnedRoute[];
  methods: OwnedMethod[];
}

export const noOwnedOffers = (): OwnedOffers => ({
  services: [],
  programs: [],
  routes: [],
  methods: [],
});

export function ownOffers(all: OwnedOffers, pluginId: string, offers: Offers): void {
  all.services.push(...offers.services.map((service) => ({ ...service, pluginId })));
  all.programs.push(...offers.programs.map((program) => ({ ...program, pluginId })));
  all.routes.push(...offers.routes.map((route) => ({ ...route, pluginId })));
  all.methods.push(...offers.methods.map((method) => ({ ...method, pluginId })));
}

/** Pure. Without what an earlier plugin has, and with a line for each of these. */
export function withFreeOffers(given: Registrations, all: OwnedOffers): Registrations {
  const problems: string[] = [];
  const isFree = (what: string, owner: { pluginId: string } | undefined) => {
    if (owner === undefined) return true;
    problems.push(`${what} belongs to plugin "${owner.pluginId}"; it is left out`);
    return false;
  };
  const { services, programs, routes, methods } = given.offers;
  const offers: Offers = {
    services,
    programs: programs
      .flatMap((program) => withoutOwnWords(program, problems))
      .filter((program) =>
        isFree(
          `the program "${wordsOf(program)[0]}"`,
          all.programs.find((other) =>
            wordsOf(other).some((words) => wordsOf(program).includes(words)),
          ),
        ),
      ),
    routes: routes.filter(({ path }) =>
      isFree(
        `HTTP route ${path}`,
        all.routes.find((other) => other.path === path),
      ),
    ),
    methods: methods.filter(({ name }) =>
      isFree(
        `gateway method ${name}`,
        all.methods.find((other) => other.name === name),
      ),
    ),
  };
  const diagnostics = problems.map((message) => ({ level: "warning" as const, message }));
  return { ...given, offers, diagnostics: [...given.diagnostics, ...diagnostics] };
}

/** Nobody would get there: the gateway's own commands come first. Empty: no word is left. */
function withoutOwnWords(program: RegisteredProgram, problems: string[]): RegisteredProgram[] {
  if (program.parentPath.length > 0) return [program];
  const isOwn = (name: string) => OWN_WORDS.includes(name);
  for (const name of program.names.filter(isOwn))
    problems.push(`the program "${name}" belongs to clew itself; it is left out`);
  const names = program.names.filter((name) => !isOwn(name));
  return names.length === 0 ? [] : [{ ...program, names }];
}

const wordsOf = ({ parentPath, names }: RegisteredProgram) =>
  names.map((name) => [...parentPath, name].join(" "));
