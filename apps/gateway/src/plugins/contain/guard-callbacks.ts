// Has Node call what plugins gave it as theirs, and outlives what that throws.
import asyncHooks, { type HookCallbacks } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import module, { type RegisterHooksOptions, syncBuiltinESMExports } from "node:module";
import perfHooks from "node:perf_hooks";
import { pluginOfStack } from "../load/module-hooks.ts";
import { asPlugin, type RunningPlugin } from "../load/running.ts";
import { callingPlugin } from "./acting-plugin.ts";
import { workInSlices } from "./work-in-slices.ts";

type OnThrown = (error: unknown, plugin: RunningPlugin) => void;
type Callback = (...given: unknown[]) => unknown;

/** For the life of the process, to be called once. What the gateway gives Node stays as it is. */
export function guardCallbacks(onThrown: OnThrown): void {
  guardAsyncHooks(onThrown);
  guardChannels(onThrown);
  guardModuleHooks(onThrown);
  guardWatchers(onThrown);
  syncBuiltinESMExports();
}

type Watcher = new (callback: Callback) => object;

/** Node calls these when it comes to it, and as nobody's. */
function guardWatchers(onThrown: OnThrown): void {
  const guarded = (made: Watcher, outliving: typeof outlivingAs): Watcher => {
    const construct = (target: Watcher, [callback, ...others]: unknown[], newTarget: Watcher) => {
      const plugin = callingPlugin(construct)?.plugin;
      const given =
        plugin === undefined || typeof callback !== "function"
          ? callback
          : outliving(plugin, callback as Callback, onThrown);
      return Reflect.construct(target, [given, ...others], newTarget) as object;
    };
    const proxy = new Proxy(made, { construct });
    const own = { value: proxy, writable: true, configurable: true };
    Object.defineProperty(made.prototype, "constructor", own);
    return proxy;
  };
  globalThis.FinalizationRegistry = guarded(FinalizationRegistry as Watcher, laterAs) as never;
  const observer = guarded(PerformanceObserver as unknown as Watcher, outlivingAs) as never;
  globalThis.PerformanceObserver = observer;
  perfHooks.PerformanceObserver = observer;
}

const outlivingAs =
  (plugin: RunningPlugin, callback: Callback, onThrown: OnThrown): Callback =>
  (...given) => {
    try {
      return asPlugin(plugin, () => callback(...given));
    } catch (error) {
      onThrown(error, plugin);
      return undefined;
    }
  };

/** Of everything that was collected Node tells at once, and nobody waits for it. */
const laterAs: typeof outlivingAs = (plugin, callback, onThrown) =>
  workInSlices(outlivingAs(plugin, callback, onThrown));

const HOOKS = ["init", "before", "after", "destroy", "promiseResolve"] as const;
const later = process.nextTick.bind(process);

/** An error in one of these ends the process at once: the hook is switched off instead. */
function guardAsyncHooks(onThrown: OnThrown): void {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = function guarded(given: HookCallbacks) {
    const plugin = callingPlugin(guarded)?.plugin;
    if (plugin === undefined || typeof given !== "object" || given === null)
      return createHook(given);
    // Node still calls it while the call that it is in goes on.
    let isOff = false;
    const outliving = (callback: Callback): Callback =>
      function (this: unknown, ...about) {
        if (isOff) return undefined;
        try {
          return Reflect.apply(callback, this, about);
        } catch (error) {
          isOff = true;
          hook.disable();
          later(() => onThrown(error, plugin));
          return undefined;
        }
      };
    const callbacks = { ...given } as Record<string, unknown>;
    for (const name of HOOKS) {
      const callback = given[name];
      if (typeof callback === "function") callbacks[name] = outliving(callback as Callback);
    }
    const hook = createHook(callbacks as HookCallbacks);
    return hook;
  };
}

type Resolve = NonNullable<RegisterHooksOptions["resolve"]>;
type Load = NonNullable<RegisterHooksOptions["load"]>;

/** They stay for the life of the process: a plugin's see its own modules only, and none fails. */
function guardModuleHooks(onThrown: OnThrown): void {
  const { registerHooks } = module;
  module.registerHooks = function guarded(given: RegisterHooksOptions) {
    const plugin = callingPlugin(guarded)?.plugin;
    if (plugin === undefined || typeof given !== "object" || given === null)
      return registerHooks(given);
    const isOwn = (url: string | undefined) =>
      url !== undefined && pluginOfStack(url)?.pluginId === plugin.pluginId;
    const { resolve, load } = given;
    return registerHooks({
      ...(typeof resolve === "function" && {
        resolve: ((specifier, context, next) =>
          isOwn(context.parentURL)
            ? outlived(resolve, [specifier, context, next])
            : next(specifier, context)) satisfies Resolve,
      }),
      ...(typeof load === "function" && {
        load: ((url, context, next) =>
          isOwn(url) ? outlived(load, [url, context, next]) : next(url, context)) satisfies Load,
      }),
    });
    /** What Node itself throws there is an answer, too. */
    function outlived<Context, Result>(
      hook: (name: string, context: Context, next: Next<Context, Result>) => Result,
      [name, context, next]: [string, Context, Next<Context, Result>],
    ): Result {
      let answered: { error: unknown } | undefined;
      const asking: Next<Context, Result> = (...asked) => {
        try {
          return next(...asked);
        } catch (error) {
          answered = { error };
          throw error;
        }
      };
      try {
        return asPlugin(plugin!, () => hook(name, context, asking));
      } catch (error) {
        if (answered?.error === error) throw error;
        later(() => onThrown(error, plugin!));
        return next(name, context);
      }
    }
  };
}

type Next<Context, Result> = (name: string, context?: Partial<Context>) => Result;

/** What listens there is called in the middle of other work, which nobody began for a plugin. */
function guardChannels(onThrown: OnThrown): void {
  const wrapped = new WeakMap<object, Callback>();
  const wrap = (plugin: RunningPlugin, callback: Callback): Callback => {
    const known = wrapped.get(callback);
    if (known !== undefined) return known;
    const listener = outlivingAs(plugin, callback, onThrown);
    wrapped.set(callback, listener);
    return listener;
  };
  for (const prototype of channelPrototypes()) {
    const { subscribe, unsubscribe } = prototype;
    prototype.subscribe = function guarded(callback) {
      const plugin = callingPlugin(guarded)?.plugin;
      const isTheirs = plugin !== undefined && typeof callback === "function";
      return Reflect.apply(subscribe, this, [isTheirs ? wrap(plugin, callback) : callback]);
    };
    prototype.unsubscribe = function (callback) {
      return Reflect.apply(unsubscribe, this, [wrapped.get(callback) ?? callback]);
    };
  }
}

type Channels = Record<"subscribe" | "unsubscribe", (callback: Callback) => unknown>;

/** A channel has another one as soon as somebody listens. */
function channelPrototypes(): Channels[] {
  const own = channel("clew.none");
  const idle = Object.getPrototypeOf(own) as Channels;
  const listener = () => {};
  own.subscribe(listener);
  const active = Object.getPrototypeOf(own) as Channels;
  own.unsubscribe(listener);
  return [idle, active];
}
