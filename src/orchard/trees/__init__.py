"""Label trees and what builds them."""
