/** Japanese texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "パスキー",
  "passkeys.intro":
    "パスワードとコードの代わりに、指紋、顔、デバイスの PIN でログインできます。パスキーは推測やフィッシングの心配がありません。パスワードも引き続き使えます。",
  "passkeys.name": "名前",
  "passkeys.nameHint": "例：スマートフォン、セキュリティキー",
  "passkeys.make": "パスキーを追加",
  "passkeys.makeText": "パスワードを確認してください。続いて、ブラウザーがパスキーの保存先を尋ねます。",
  "passkeys.made": "パスキーを追加しました。このパスキーでログインできます。",
  "passkeys.madeAt": "{date} に {host} 用に作成",
  "passkeys.used": "最終使用 {date}",
  "passkeys.unused": "未使用",
  "passkeys.copied": "このパスキーは複製された可能性があるため、無効にしました。削除してください。",
  "passkeys.remove": "パスキーを削除",
  "passkeys.removeConfirm":
    "「{name}」を削除しますか？このパスキーではログインできなくなります。デバイスからも削除しないと、候補に表示され続けます。",
  "passkeys.known": "このデバイスには、このサーバーのパスキーがすでにあります。",
  "passkeys.notMade":
    "パスキーを追加できませんでした。キャンセルされたか、時間切れか、このデバイスが対応していません。",
  "passkeys.notHere": "パスキーには、対応ブラウザーと、ホスト名付きの HTTPS または localhost が必要です。",
  "passkeys.logIn": "パスキーでログイン",
  "passkeys.notUsed":
    "パスキーを使用できませんでした。キャンセルされたか、時間切れか、このデバイスにありません。",
  "passkeys.wrong":
    "このパスキーはここでは使えなくなっています。パスワードでログインして、パスキーを確認してください。",
  "passkeys.has": "パスキー",
  "passkeys.removeShort": "パスキーを削除",
  "passkeys.removeOfConfirm":
    "{name} さんはパスワードでログインし、新しいパスキーを追加できます。{name} さんのセッションはすべて終了します。",
};
