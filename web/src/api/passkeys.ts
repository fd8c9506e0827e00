/** Passkeys: the API calls and the WebAuthn ceremonies in the browser. */
import { call } from "./http.ts";
import type { User } from "./types.ts";
import type { Passkey, PasskeyList } from "./schema.ts";

export type { Passkey, PasskeyList as Passkeys };

interface Named {
  type: "public-key";
  id: string;
}

/** The fields of `PublicKeyCredentialCreationOptionsJSON` that the server sends. */
interface ToMake {
  challenge: string;
  rp: PublicKeyCredentialRpEntity;
  user: { id: string; name: string; displayName: string };
  pubKeyCredParams: PublicKeyCredentialParameters[];
  timeout: number;
  excludeCredentials: Named[];
  authenticatorSelection: AuthenticatorSelectionCriteria;
  attestation: "none";
}

/** The fields of `PublicKeyCredentialRequestOptionsJSON` that the server sends. */
interface ToUse {
  challenge: string;
  rpId: string;
  userVerification: "required";
}

const own = "/api/v1/me/passkeys";
const door = "/api/v1/login/passkey";

/** Whether the browser supports passkeys. */
export const knowsPasskeys = () => "PublicKeyCredential" in window;

export const listPasskeys = () => call<PasskeyList>("GET", own);
export const removePasskey = (id: string) => call<undefined>("DELETE", `${own}/${encodeURIComponent(id)}`);
export const removePasskeysOf = (user: string) =>
  call<undefined>("DELETE", `/api/v1/users/${encodeURIComponent(user)}/passkeys`);

/** Creates a passkey with the user's authenticator and registers it. */
export async function makePasskey(name: string, current: string | null): Promise<Passkey> {
  const options = await call<ToMake>("POST", `${own}/challenge`, { current });
  const made = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      excludeCredentials: options.excludeCredentials.map(({ type, id }) => ({ type, id: bytes(id) })),
    },
  });
  if (!(made instanceof PublicKeyCredential)) throw new DOMException("", "NotAllowedError");
  const response = made.response as AuthenticatorAttestationResponse;
  return call<Passkey>("POST", own, {
    name,
    credential: {
      ...head(made),
      response: {
        clientDataJSON: text(response.clientDataJSON),
        attestationObject: text(response.attestationObject),
      },
    },
  });
}

/** Signs in with a passkey chosen by the user. */
export async function usePasskey(): Promise<User> {
  const options = await call<ToUse>("POST", `${door}/challenge`, {});
  const used = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(options.challenge),
      rpId: options.rpId,
      userVerification: options.userVerification,
    },
  });
  if (!(used instanceof PublicKeyCredential)) throw new DOMException("", "NotAllowedError");
  const response = used.response as AuthenticatorAssertionResponse;
  const { user } = await call<{ user: User }>("POST", door, {
    credential: {
      ...head(used),
      response: {
        clientDataJSON: text(response.clientDataJSON),
        authenticatorData: text(response.authenticatorData),
        signature: text(response.signature),
        userHandle: response.userHandle && text(response.userHandle),
      },
    },
  });
  return user;
}

const head = ({ id, rawId, type }: PublicKeyCredential) => ({ id, rawId: text(rawId), type });

/** Decodes base64url. */
function bytes(encoded: string): Uint8Array<ArrayBuffer> {
  const plain = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (sign) => sign.charCodeAt(0));
}

/** Encodes as base64url. */
function text(buffer: ArrayBuffer): string {
  const plain = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
