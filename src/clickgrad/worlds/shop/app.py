"""The shop's routes."""

from __future__ import annotations

from clickgrad.worlds.shop import account, addresses, browse, cart, checkout, information, orders, reviews, wishes
from clickgrad.worlds.shop.pages import PAGES

get, post = PAGES.get, PAGES.post

app = PAGES.app(
    [
        get("/", browse.home),
        get("/search", browse.search),
        get("/suggest", browse.suggest),
        get("/category/{slug}", browse.category),
        get("/product/{id}", browse.product),
        get("/product/{id}/reviews", reviews.reviews),
        get("/product/{id}/review", reviews.review_form),
        post("/product/{id}/review", reviews.write_review),
        post("/product/{id}/cart", cart.add_to_cart),
        post("/product/{id}/wish", wishes.add_wish),
        get("/cart", cart.cart),
        post("/cart/coupon", cart.add_coupon),
        post("/cart/coupon/remove", cart.remove_coupon),
        post("/cart/{id}/update", cart.update_item),
        post("/cart/{id}/remove", cart.remove_item),
        get("/checkout", checkout.checkout),
        post("/checkout", checkout.place_order),
        get("/wishlist", wishes.wish_list),
        post("/wishlist/{id}/cart", wishes.move_to_cart),
        post("/wishlist/{id}/remove", wishes.remove_wish),
        get("/orders", orders.orders),
        get("/orders/{id}", orders.order),
        post("/orders/{id}/cancel", orders.cancel),
        post("/orders/{id}/reorder", orders.reorder),
        get("/orders/{id}/return", orders.return_form),
        post("/orders/{id}/return", orders.request_return),
        get("/addresses", addresses.address_book),
        get("/addresses/new", addresses.new_address),
        post("/addresses/new", addresses.add_address),
        get("/addresses/{id}", addresses.edit_address),
        post("/addresses/{id}", addresses.save_address),
        post("/addresses/{id}/default", addresses.make_default),
        post("/addresses/{id}/delete", addresses.delete_address),
        get("/account", account.account),
        get("/account/edit", account.account_form),
        post("/account/edit", account.save_account),
        get("/account/password", account.password_form),
        post("/account/password", account.save_password),
        get("/login", PAGES.login_form),
        post("/login", account.login),
        post("/logout", PAGES.log_out),
        get("/register", account.register_form),
        post("/register", account.register),
        get("/help", information.index),
        get("/pages/{slug}", information.page),
        get("/contact", information.contact_form),
        post("/contact", information.send_message),
        get("/newsletter", information.newsletter_form),
        post("/newsletter", information.subscribe),
        post("/newsletter/leave", information.unsubscribe),
    ]
)
