/** Glasshouse with an administrator, a key, and model servers connected to it. */
import { startGlasshouse, startModel } from "../../../web/e2e/programs.mjs";
import { startRecorder } from "./recorder.mjs";

/**
 * Starts it with a scripted model connected, which plays these cases; stopping it stops both. `sent` are the bodies that the
 * model was sent.
 */
export async function startWithModel(cases, environment = {}) {
  const started = [];
  const stop = async () => {
    while (started.length > 0) await started.pop().stop();
  };
  try {
    const model = await startModel(cases);
    started.push(model);
    const recorder = await startRecorder(model.url);
    started.push(recorder);
    const glasshouse = await startWithKey(environment);
    started.push(glasshouse);
    await glasshouse.connect("Scripted", recorder.url);
    return { ...glasshouse, sent: recorder.bodies, stop };
  } catch (error) {
    // A program that is left running would keep the tests from ending.
    await stop();
    throw error;
  }
}

/** Starts it, set up through `environment`; `post` and `get` speak as the administrator. */
export async function startWithKey(environment = {}) {
  const program = await startGlasshouse(environment);
  const { url } = program;
  let cookie = "";
  const call = async (path, options) => {
    const answer = await fetch(url + path, { ...options, headers: { "content-type": "application/json", cookie } });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const post = (path, body) => call(path, { method: "POST", body: JSON.stringify(body) });
  const account = { email: "ada@example.org", name: "Ada", password: "correct horse" };
  cookie = (await post("/api/v1/setup", account)).headers.get("set-cookie").split(";")[0];
  const { secret } = await (await post("/api/v1/keys", { name: "test" })).json();
  return {
    url,
    key: secret,
    cookie,
    post,
    put: (path, body) => call(path, { method: "PUT", body: JSON.stringify(body) }),
    get: async (path) => (await call(path)).json(),
    connect: (name, base_url) => post("/api/v1/connections", { name, base_url, api_key: "sk-upstream" }),
    killAndStart: () => program.killAndStart(),
    stop: () => program.stop(),
  };
}
