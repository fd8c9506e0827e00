/** Japanese texts for two-step sign-in. */
import type { Entry } from "../index.svelte.ts";
import type { twoStep as en } from "../en/two-step.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "2 段階認証",
  "twoStep.intro":
    "パスワードに続けて、Aegis、Google Authenticator、1Password などの認証アプリのコードを入力します。パスワードが知られてもログインされません。API キーはこれまでどおり使えます。",
  "twoStep.begin": "設定",
  "twoStep.beginText": "認証アプリの入ったスマートフォンが必要です。まず、パスワードを確認してください：",
  "twoStep.next": "続行",
  "twoStep.scan": "アプリでスキャンし、表示されたコードを入力してください。",
  "twoStep.qr": "アプリ用の QR コード",
  "twoStep.type": "または、アプリに次を入力：",
  "twoStep.code": "アプリのコード",
  "twoStep.codeHint": "6 桁の数字",
  "twoStep.wrong":
    "コードが間違っています。次のコードを待ち、スマートフォンの時計が正しいか確認してください。",
  "twoStep.turnOn": "オンにする",
  "twoStep.onSince": "{date} からオンです。",
  "twoStep.left": { other: "リカバリーコードは残り {count} 個です。" },
  "twoStep.renew": "新しいリカバリーコード",
  "twoStep.renewText": "新しいコードが 10 個発行され、古いコードは使えなくなります。",
  "twoStep.end": "2 段階認証をオフにする",
  "twoStep.endText":
    "パスワードだけでログインするようになります。アプリのコードとリカバリーコードは使えなくなります。",
  "twoStep.isOff": "2 段階認証はオフです。",
  "twoStep.noPassword":
    "プロバイダーでログインしており、ここにはパスワードがありません。2 段階目の認証はプロバイダー側で設定してください。",
  "twoStep.recoveryText":
    "2 段階認証がオンになりました。リカバリーコードは、スマートフォンがなくても取り出せる場所に保管してください。1 つにつき 1 回、アプリのコードの代わりに使えます。表示されるのは今だけです。",
  "twoStep.copyCodes": "すべてコピー",
  "twoStep.kept": "保存しました",
  "twoStep.enter": "2 段階認証",
  "twoStep.recoveryCode": "リカバリーコード",
  "twoStep.recoveryCodeHint": "16 文字の英数字。1 つにつき 1 回使えます",
  "twoStep.submit": "続行",
  "twoStep.used": "コードが間違っているか、使用済みです。",
  "twoStep.lost": "リカバリーコードを使用",
  "twoStep.useApp": "アプリを使用",
  "twoStep.startOver": "最初からやり直す",
  "twoStep.has": "2 段階認証",
  "twoStep.endOfConfirm":
    "{name} さんはパスワードだけでログインできるようになります。依頼者が本当に {name} さん本人か確認してください。{name} さんのセッションはすべて終了します。",
};
