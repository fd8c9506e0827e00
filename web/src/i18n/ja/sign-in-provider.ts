/** Japanese texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "ログインプロバイダー",
  "signInProvider.intro":
    "OpenID Connect により、既存のアカウントでログインできるようにします。パスワードも引き続き使えます。",
  "signInProvider.setUp": "設定する",
  "signInProvider.setUpTitle": "ログインプロバイダーを設定",
  "signInProvider.editTitle": "ログインプロバイダーを編集",
  "signInProvider.clientIdOf": "クライアント ID：{id}",
  "signInProvider.preset": "プロバイダー",
  "signInProvider.other": "その他",
  "signInProvider.hint.entra":
    "Entra ID では、グループが 201 個以上になるとトークンに含まれません。該当する場合は「詳細設定」でグループ URL を設定してください。",
  "signInProvider.hint.google": "Google はグループを送信しません。",
  "signInProvider.hint.keycloak": "Keycloak はユーザーのグループをすべて送信します。",
  "signInProvider.hint.okta":
    "Okta では、グループクレームに一致するグループが 100 個を超えるとログインに失敗します。Okta 側で絞り込んでください。",
  "signInProvider.hint.authentik":
    "authentik はユーザーのグループをすべて送信します。末尾のスラッシュも発行者の一部です。",
  "signInProvider.redirect": "リダイレクト先アドレス",
  "signInProvider.redirectHint": "プロバイダーで、コンフィデンシャルな Web クライアントに登録してください。",
  "signInProvider.issuer": "発行者（issuer）",
  "signInProvider.issuerHint": "プロバイダーの表記どおりに入力してください。",
  "signInProvider.placeholder": "{text} をご自身の値に置き換えてください。",
  "signInProvider.clientId": "クライアント ID",
  "signInProvider.clientSecret": "クライアントシークレット",
  "signInProvider.secretHint": "パブリッククライアントの場合は空欄にします。",
  "signInProvider.secretMoved":
    "保存済みのシークレットは別のホストには送信されません。このプロバイダーのものを入力してください。",
  "signInProvider.removeSecret": "保存済みのクライアントシークレットを削除",
  "signInProvider.name": "ボタンに表示する名前",
  "signInProvider.advanced": "詳細設定",
  "signInProvider.scopes": "スコープ",
  "signInProvider.scopesHint":
    "空白で区切ります。groups スコープがないとグループを送信しないプロバイダーもあります。",
  "signInProvider.groupsClaim": "グループクレーム",
  "signInProvider.groupsClaimHint": "入れ子のクレームはドットで指定します（例：realm_access.roles）。",
  "signInProvider.groupsUrl": "グループ URL",
  "signInProvider.groupsUrlHint":
    "トークンから省かれたグループの取得先です。Entra ID ではスコープ User.Read と GroupMember.Read.All も必要です。",
  "signInProvider.adminGroups": "管理者グループ",
  "signInProvider.adminGroupsHint":
    "1 行に 1 つ。ログインのたびに、メンバーは管理者に、それ以外は通常のユーザーになります。空欄の場合は、管理者をここで選びます。",
  "signInProvider.allowedGroups": "許可するグループ",
  "signInProvider.allowedGroupsHint":
    "1 行に 1 つ。これらと管理者グループのメンバーだけがログインできます。空欄の場合は、プロバイダーの全員がログインできます。",
  "signInProvider.createAccounts": "初回ログイン時にアカウントを作成",
  "signInProvider.createAccountsHint": "オフの場合は、管理者が事前にユーザーを追加します。",
  "signInProvider.linkByEmail": "メールアドレスで既存のアカウントと連携",
  "signInProvider.linkByEmailHint":
    "アドレスを確認するプロバイダーでのみ使用してください。そこでアドレスを取得した人が、そのアカウントを使えるようになります。",
  "signInProvider.newIssuer":
    "ユーザーはこの発行者での ID で識別されます。別の発行者では、メールアドレスで連携しない限り新しいユーザーとして扱われます。",
  "signInProvider.works": "接続は正常です。ユーザーは {host} でログインします。",
  "signInProvider.turnOff": "オフにする",
  "signInProvider.turnOffTitle": "ログインプロバイダーをオフにする",
  "signInProvider.turnOffStay": "ログイン中のユーザーは、セッションが終わるまでログインしたままです。",
  "signInProvider.turnOffWho":
    "その後、パスワードもパスキーもないユーザーはログインできなくなります。パスワードを設定してもらうには、そのユーザーの操作から「パスワードをリセット」を選びます。",
  "signInProvider.turnOffYou": "あなた自身にはどちらもありません。先に自分用のリンクを作成してください。",
  "signInProvider.turnedOff": "ログインプロバイダーをオフにしました",
};
